"""What all settings share."""

from pydantic import BaseModel, ConfigDict


class StrictModel(BaseModel):
    """A part of the settings; unknown keys, wrong types and infinite numbers are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)
