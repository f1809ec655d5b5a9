"""Understands a question before any source is asked: domain, type and dynamism.

`open_router` returns the preset's router: trained classifiers (`encoder_router.py`), the language model
(`prompt_router.py`), or one that does nothing.
"""

from agents.common.contracts import Route as Route
from agents.common.contracts import label as label
from agents.common.contracts import probability as probability
from agents.questions.classifier import Classifier as Classifier
from agents.questions.classifier import locate_classifier as locate_classifier
from agents.questions.routes import DOMAINS as DOMAINS
from agents.questions.routes import DYNAMISMS as DYNAMISMS
from agents.questions.routes import FIELD_CLASSES as FIELD_CLASSES
from agents.questions.routes import QUESTION_TYPES as QUESTION_TYPES
from agents.questions.routes import QuestionRouter as QuestionRouter
from agents.questions.routes import open_router as open_router
