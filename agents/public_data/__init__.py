"""The public-data path: facts shipped with a submission, and how to find them (db3 section 2.3)."""

from agents.public_data.shipped import NoPublicData, PublicData, ShippedPublicData, open_public_data

__all__ = ["NoPublicData", "PublicData", "ShippedPublicData", "open_public_data"]
