"""The base of all settings: frozen, no unknown keys, no silent type conversion."""

from pydantic import BaseModel, ConfigDict

from agents.common.files import UserError


class SettingsError(UserError, ValueError):
    """A preset cannot be used; the message names file, key, the value found and the values allowed."""


class StrictModel(BaseModel):
    """A part of the settings; unknown keys and wrong types are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
