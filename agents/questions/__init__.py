"""The place where a question is understood before any source is asked: domain, type, dynamism, dates.

`open_router` gives the router that a preset names: trained classifiers (`encoder_router.py`), the language model
(`prompt_router.py`), or `Unrouted`, which leaves every question as it is. Dates are resolved in `dates.py`.
"""

from agents.contracts import Route, label, probability
from agents.questions.dates import (
    Calendar,
    DateRange,
    FoundDate,
    MomentKind,
    ResolvedDate,
    eastern_time,
    find_dates,
    resolve_date,
)
from agents.questions.routes import (
    DOMAINS,
    DYNAMISMS,
    FIELD_CLASSES,
    QUESTION_TYPES,
    QuestionRouter,
    Unrouted,
    open_router,
)

__all__ = [
    "DOMAINS",
    "DYNAMISMS",
    "FIELD_CLASSES",
    "QUESTION_TYPES",
    "Calendar",
    "DateRange",
    "FoundDate",
    "MomentKind",
    "QuestionRouter",
    "ResolvedDate",
    "Route",
    "Unrouted",
    "eastern_time",
    "find_dates",
    "label",
    "open_router",
    "probability",
    "resolve_date",
]
