"""E-books in the format EPUB, versions 2 and 3 (W3C)."""
