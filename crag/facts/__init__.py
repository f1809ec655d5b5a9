"""The public-data path: facts shipped with a submission, and how to find them (db3 section 2.3)."""

from crag.facts.converters import build_companies as build_companies
from crag.facts.converters import build_films as build_films
from crag.facts.converters import build_grammys as build_grammys
from crag.facts.converters import build_oscars as build_oscars
from crag.facts.shipped import PublicData as PublicData
from crag.facts.shipped import ShippedPublicData as ShippedPublicData
from crag.facts.tables import TableError as TableError
