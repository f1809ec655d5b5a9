"""What all settings share: strict models and the error of a preset that cannot be used."""

from pydantic import BaseModel, ConfigDict

from crag.core.files import UserError


class SettingsError(UserError, ValueError):
    """A preset cannot be used; the message names file, key, the value found and the values allowed."""


class StrictModel(BaseModel):
    """A part of the settings; unknown keys, wrong types and infinite numbers are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)
