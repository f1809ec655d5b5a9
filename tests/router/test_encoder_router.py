"""Several classifiers as one router; and the shipped one with real weights."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from crag.core.contracts import UNROUTED, route_label, route_probability
from crag.core.deadline import Deadline
from crag.router import FIELD_CLASSES, QuestionRouter, classifier, encoder_router, open_router
from crag.router.encoder_router import EncoderQuestionRouter
from crag.settings import EncoderRouter, SettingsError
from crag.weights.manifest import WeightsMissingError
from tests.router.tiny_bert import build_classifier, queries


@pytest.fixture
def tiny(bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of classifiers; a tiny BERT is in the place of every encoder that they name."""
    for module in (classifier, encoder_router):
        monkeypatch.setattr(module, "locate", lambda name: bert)
    monkeypatch.setenv("CRAG_MODELS_DIR", str(tmp_path))
    return tmp_path


def routed(folder: Path, *fields: str) -> EncoderQuestionRouter:
    """By a classifier for each field."""
    names = tuple(f"{number}" for number, field in enumerate(fields) if build_classifier(folder / f"{number}", [field]))
    return EncoderQuestionRouter(EncoderRouter(engine="encoder", classifiers=names, batch_size=3))


def test_classifiers_with_a_field_each_make_one_route(tiny: Path) -> None:
    """As NEC's three do."""
    router = routed(tiny, *FIELD_CLASSES)
    router.check_weights()
    router.warm_up()
    asked = queries("who sang the song ?", "what is the share price of acme ?", "who ?", "did acme score ?")
    routes = router.route(asked, Deadline(600))
    assert len(routes) == 4
    for route in routes:
        for field, classes in FIELD_CLASSES.items():
            assert route_label(route, field) in classes
            assert route_probability(route, field, classes) == pytest.approx(1.0, abs=1e-5)
            entry = route.to_dict()[field]
            assert entry["probabilities"][entry["label"]] == max(entry["probabilities"].values())
    router.close()


def test_a_field_from_two_classifiers_is_refused(tiny: Path) -> None:
    with pytest.raises(SettingsError, match="domain: several classifiers"):
        routed(tiny, "domain", "domain").check_weights()


def test_after_the_deadline_a_route_is_empty(tiny: Path) -> None:
    routes = routed(tiny, "domain").route(queries("who founded acme ?"), Deadline(0))
    assert routes == [UNROUTED]


@pytest.fixture(scope="module")
def shipped() -> Iterator[QuestionRouter]:
    router = open_router(EncoderRouter(engine="encoder", classifiers=("cpu",)), None)
    try:
        router.check_weights()
    except WeightsMissingError as error:
        pytest.skip(str(error))
    yield router
    router.close()


OWN_QUESTIONS = {
    "what did shares of the brewery close at yesterday?": ("finance", None),
    "what is the market capitalization of intel right now?": ("finance", "real-time"),
    "who directed the film barry lyndon?": ("movie", "static"),
    "which actor played the harpooner in the film moby dick?": ("movie", "static"),
    "who wrote the lyrics of the song waterloo sunset?": ("music", "static"),
    "how many studio albums did the band talk talk release?": ("music", None),
    "how many goals did gerd müller score for bayern munich?": ("sports", None),
    "which nba team won the most games in 2003?": ("sports", "static"),
    "which river flows through the city of poznań?": ("open", "static"),
}


@pytest.mark.models
def test_the_shipped_classifier_knows_what_questions_are_about(shipped: QuestionRouter) -> None:
    routes = shipped.route(queries(*OWN_QUESTIONS), Deadline(600))
    for (question, (domain, dynamism)), route in zip(OWN_QUESTIONS.items(), routes, strict=True):
        assert route_label(route, "domain") == domain, question
        assert dynamism is None or route_label(route, "static_or_dynamic") == dynamism, question
    compared = shipped.route(queries("which is longer, the danube or the volga?"), Deadline(600))[0]
    assert route_label(compared, "question_type") == "comparison"
