"""Builds a folder of tables for a submission from the public files that db3 used (section 2.3).

Kaggle's "the-oscar-award" and "grammy-awards" (CSV), `movies_metadata.csv` and `credits.csv` of "The Movies Dataset"
(the films of MovieLens), and a JSON file of market capitalisation, earnings per share and P/E ratio by ticker.
"""

from crag.facts.converters.companies import build_companies as build_companies
from crag.facts.converters.films import build_films as build_films
from crag.facts.converters.grammys import build_grammys as build_grammys
from crag.facts.converters.oscars import build_oscars as build_oscars
from crag.facts.converters.oscars import oscar_award as oscar_award
from crag.facts.converters.oscars import oscar_winners as oscar_winners
