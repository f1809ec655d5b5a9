"""What all settings share: frozen, every key known, no silent conversion of types."""

from pydantic import BaseModel, ConfigDict


class SettingsError(ValueError):
    """A preset cannot be used; the message names file, key, what was found and what is allowed."""


class StrictModel(BaseModel):
    """A part of the settings; unknown keys and values of another type are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
