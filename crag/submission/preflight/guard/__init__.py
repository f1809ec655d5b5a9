"""Watches the processes of an empty world; Python imports `sitecustomize` from here."""
