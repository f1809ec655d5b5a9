"""Understands a question before any source is asked: domain, type, dynamism, dates.

`open_router` returns the preset's router: trained classifiers (`encoder_router.py`), the language model
(`prompt_router.py`), or one that does nothing. `dates.py` resolves dates.
"""

from agents.common.contracts import Route as Route
from agents.common.contracts import label as label
from agents.common.contracts import probability as probability
from agents.questions.calendars import DateRange as DateRange
from agents.questions.classifier import Classifier as Classifier
from agents.questions.classifier import locate_classifier as locate_classifier
from agents.questions.dates import Calendar as Calendar
from agents.questions.dates import FoundDate as FoundDate
from agents.questions.dates import MomentKind as MomentKind
from agents.questions.dates import ResolvedDate as ResolvedDate
from agents.questions.dates import eastern_time as eastern_time
from agents.questions.dates import find_dates as find_dates
from agents.questions.dates import resolve_date as resolve_date
from agents.questions.routes import DOMAINS as DOMAINS
from agents.questions.routes import DYNAMISMS as DYNAMISMS
from agents.questions.routes import FIELD_CLASSES as FIELD_CLASSES
from agents.questions.routes import QUESTION_TYPES as QUESTION_TYPES
from agents.questions.routes import QuestionRouter as QuestionRouter
from agents.questions.routes import open_router as open_router
