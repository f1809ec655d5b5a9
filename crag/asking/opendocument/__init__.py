"""Texts, sheets and presentations of OpenDocument (ISO/IEC 26300), the format of LibreOffice."""
