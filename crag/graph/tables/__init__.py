"""Fills each table of the schema from the server's endpoints."""
