"""Writes weights in the formats that the engines read."""
