"""A preset's settings for pages that a person chose: they more often hold the answer than what a search finds."""

from collections.abc import Sequence

from crag.settings import AnsweringSettings, ScoreGate, Settings

_GATES = "answering.gates"


def settings_for_chosen_pages(
    settings: Settings, changes: Sequence[str] = (), threshold: float | None = None
) -> Settings:
    """The settings of `crag ask` and `Asker`.

    `changes` are the lines that already changed the preset: gates that they name stay.
    `threshold`: P(correct) must be above it, and no gate on the best passage decides before.
    """
    changed_keys = [change.partition("=")[0].strip() for change in changes]
    answering = _answering_for_chosen_pages(settings.answering, changed_keys, threshold)
    # People may see what a gate withholds; and their pages are no strangers that could speak against each other.
    answering = answering.model_copy(update={"audit": True, "other_sites": False})

    # A row of a table is read with its header.
    extract = settings.web.extract.model_copy(update={"labelled_tables": True})
    # Nobody plants pages that the user chose. Their snippets are pieces of them, which the pages hold in whole lines.
    changed = {"extract": extract, "largest_question_share": None, "snippets": False}
    web = settings.web.model_copy(update=changed)
    return settings.model_copy(update={"answering": answering, "web": web})


def _answering_for_chosen_pages(
    answering: AnsweringSettings, changed_keys: Sequence[str], threshold: float | None
) -> AnsweringSettings:
    """With P(correct) for chosen pages and the threshold, and without the gates that P(correct) makes needless."""
    confidence = answering.confidence
    if confidence is None:
        return answering

    log_odds = confidence.log_odds_on_chosen_pages
    is_fitted = log_odds is not None
    if is_fitted:
        confidence = confidence.model_copy(update={"log_odds": log_odds})
    if threshold is not None:
        confidence = confidence.model_copy(update={"threshold": threshold})

    # P(correct) knows how well the best passage fits: a gate on it would withhold what P(correct) finds good enough.
    gates = answering.gates
    user_chose_gates = any(key.startswith(_GATES) for key in changed_keys)
    if (is_fitted or threshold is not None) and not user_chose_gates:
        gates = tuple(gate for gate in gates if not isinstance(gate, ScoreGate))
    return answering.model_copy(update={"gates": gates, "confidence": confidence})
