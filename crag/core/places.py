"""Where the files of this project are."""

from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
"""The folder of the package `crag`: presets, schemas and small trained files ship inside it."""

REPOSITORY = PACKAGE.parent
"""The checkout around the package, with `agents/` and `models/`. Of an installed package: its site-packages, where
neither exists."""
