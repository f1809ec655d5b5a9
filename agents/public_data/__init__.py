"""The public-data path: facts shipped with a submission, and how to find them (db3 section 2.3)."""

from agents.public_data.build import build_companies as build_companies
from agents.public_data.build import build_films as build_films
from agents.public_data.build import build_grammys as build_grammys
from agents.public_data.build import build_oscars as build_oscars
from agents.public_data.shipped import PublicData as PublicData
from agents.public_data.shipped import ShippedPublicData as ShippedPublicData
from agents.public_data.tables import TableError as TableError
