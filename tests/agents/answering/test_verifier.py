"""The verifier on tiny weights: what it reads, what it refuses, what the agent does with it."""

from pathlib import Path

import pytest

from agents.answering import Verifier, open_verifier
from agents.answering.claims import SUPPORTED
from agents.questions import Classifier
from agents.settings import ConfidenceSettings, SettingsError
from models.manifest import WeightsMissingError
from tests.agents.questions.tiny_bert import build_bert, build_classifier


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_bert(tmp_path_factory.mktemp("bert"))


def test_a_classifier_of_questions_is_no_verifier(bert: Path, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="it predicts domain, not supported"):
        Verifier(Classifier(build_classifier(tmp_path, ("domain",)), encoder_folder=bert))


def test_log_odds_are_those_of_the_classifier(bert: Path, tmp_path: Path) -> None:
    classifier = Classifier(build_classifier(tmp_path, (SUPPORTED,)), encoder_folder=bert)
    claims = ["who sang ? [SEP] acme [SEP] acme sang", "who ? [SEP] goal [SEP] did acme score ?"]
    said = Verifier(classifier).log_odds(claims)
    logs = classifier.log_probabilities(claims)[SUPPORTED]
    assert said == pytest.approx([yes - no for no, yes in logs], abs=1e-4)
    assert Verifier(classifier).log_odds([]) == []


def test_a_missing_verifier_is_named_with_its_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAG_MODELS_DIR", str(tmp_path))
    with pytest.raises(WeightsMissingError, match=r"classifier none: .* python -m training.router --config none"):
        open_verifier(ConfidenceSettings(model="cpu", verifier="none"))
    assert open_verifier(ConfidenceSettings(model="cpu")) is None
