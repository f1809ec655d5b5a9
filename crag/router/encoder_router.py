"""Routes by trained classifiers (NEC 2.2 has three, one per field), with one forward pass of each per batch."""

from collections import Counter
from collections.abc import Sequence

from crag.core.contracts import UNROUTED, Classification, Query, Route
from crag.core.deadline import Deadline
from crag.router.base import QuestionRouter, classify
from crag.router.classifier import Classifier, locate_classifier, read_classifier_config
from crag.settings import EncoderRouter, SettingsError
from crag.weights.manifest import locate


class EncoderQuestionRouter(QuestionRouter):
    """Asks each classifier of the settings; no two may predict the same field."""

    def __init__(self, settings: EncoderRouter) -> None:
        self._settings = settings
        self._classifiers: list[Classifier] = []

    def check_weights(self) -> None:
        """Raise `WeightsMissingError` for missing weights, `SettingsError` if two classifiers predict one field."""
        field_counts: Counter[str] = Counter()
        configs = [read_classifier_config(locate_classifier(name)) for name in self._settings.classifiers]
        for config in configs:
            if config.base is not None:
                locate(config.base)
            field_counts.update(config.fields.keys())

        duplicates = sorted(field for field, count in field_counts.items() if count > 1)
        if duplicates:
            raise SettingsError(f'key "classifiers": {", ".join(duplicates)}: several classifiers predict it')

    def warm_up(self) -> None:
        """Load all classifiers, once; raises what `check_weights` raises."""
        if not self._classifiers:
            self.check_weights()
            self._classifiers = [Classifier(locate_classifier(name)) for name in self._settings.classifiers]

    def close(self) -> None:
        """Release the weights."""
        self._classifiers = []

    def route(self, queries: Sequence[Query], deadline: Deadline) -> list[Route]:
        """One route per query; empty for a query after the deadline."""
        self.warm_up()
        routes: list[Route] = []
        batch_size = self._settings.batch_size
        for start in range(0, len(queries), batch_size):
            batch = queries[start : start + batch_size]
            if deadline.expired:
                routes += [UNROUTED] * len(batch)
            else:
                routes += self._route_batch([query.text for query in batch])
        return routes

    def _route_batch(self, texts: Sequence[str]) -> list[Route]:
        """One route per question, with the fields of all classifiers."""
        fields_by_question: list[dict[str, Classification]] = [{} for _ in texts]
        for classifier in self._classifiers:
            for field, probabilities in classifier.probabilities(texts).items():
                labels = classifier.config.fields[field].labels
                for fields, row in zip(fields_by_question, probabilities, strict=True):
                    fields[field] = classify(labels, row)
        return [Route(**fields) for fields in fields_by_question]
