"""The verifier: a small encoder that reads a claim and gives P(the evidence supports the answer to this question).

It sees what P(correct)'s other features cannot: that a call asks something else than the question, that the text is
about another year, that the answer is of another kind. One model serves pages and the graph, for every language model.
"""

import math
from collections.abc import Sequence

from agents.answering.claims import SUPPORTED, claim_of
from agents.contracts import Trace
from agents.questions import Classifier, locate_classifier
from agents.settings import ConfidenceSettings, SettingsError

MOST_LOG_ODDS = 10.0


class Verifier:
    """A classifier with the one field `supported`, trained by `python -m training.router --config verifier`.

    Raises SettingsError: the classifier predicts something else.
    """

    def __init__(self, classifier: Classifier) -> None:
        if list(classifier.config.fields) != [SUPPORTED]:
            said = ", ".join(classifier.config.fields)
            raise SettingsError(f'key "answering.confidence.verifier": it predicts {said}, not {SUPPORTED}')
        self._classifier = classifier
        self.check_weights, self.warm_up, self.close = classifier.check_weights, classifier.warm_up, classifier.close

    def log_odds(self, claims: Sequence[str]) -> list[float]:
        """For each claim log(P / (1 - P)) of being supported, from -10 to 10."""
        tables = self._classifier.probabilities(claims)[SUPPORTED]
        odds = (math.log(max(yes, 1e-6) / max(no, 1e-6)) for no, yes in tables)
        return [max(-MOST_LOG_ODDS, min(MOST_LOG_ODDS, one)) for one in odds]

    def support(self, trace: Trace, text: str, source: str) -> float:
        """The log-odds of one answer with the evidence of its trace."""
        return self.log_odds([claim_of(trace, text, source)])[0]


def open_verifier(settings: ConfidenceSettings | None) -> Verifier | None:
    """The verifier that the settings name, not warmed up.

    Raises models.manifest.WeightsMissingError: it is not there.
    """
    if settings is None or settings.verifier is None:
        return None
    return Verifier(Classifier(locate_classifier(settings.verifier)))
