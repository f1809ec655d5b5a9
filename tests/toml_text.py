"""Settings of the scripted model as TOML."""

import json
from collections.abc import Mapping


def toml_table(texts: Mapping[str, str]) -> str:
    """An inline table, such as ``{"who directed" = "Barry Levinson"}`` for `language_model.replies`."""
    # A string of JSON is one of TOML, too
    pairs = (f"{json.dumps(key)} = {json.dumps(value)}" for key, value in texts.items())
    return f"{{{', '.join(pairs)}}}"
