"""What the verifier reads of an answer."""

from agents.answering.claims import EVIDENCE_CHARACTERS, claim_of, page_evidence, window
from agents.contracts import GRAPH, WEB, Fact, Passage, PassageKind, Trace

FILLER = "Nothing of importance is told in this sentence. " * 40


def passage(text: str, name: str = "Rain Man") -> Passage:
    return Passage(text, "https://a.example", name, 0, PassageKind.PAGE, 0, len(text))


def trace(passages: list[Passage], **more: object) -> Trace:
    return Trace("1", "who directed rain man?", "03/05/2024, 23:18:31 PT", passages=passages, **more)  # type: ignore[arg-type]


def test_evidence_of_a_page_is_the_text_around_the_answer() -> None:
    text = f"{FILLER}Barry Levinson directed the film.{FILLER}"
    seen = window("Barry Levinson", text)
    assert "Barry Levinson directed the film." in seen
    assert len(seen) <= EVIDENCE_CHARACTERS


def test_the_passage_with_the_answer_is_shown_not_the_best_one() -> None:
    said = page_evidence("Barry Levinson", [passage("The best passage."), passage("By Barry Levinson.", "Cast")])
    assert said == "Cast: By Barry Levinson."


def test_of_two_passages_with_the_answer_the_better_one_is_shown() -> None:
    said = page_evidence("Levinson", [passage("Levinson made it.", "A"), passage("Levinson again.", "B")])
    assert said.startswith("A:")


def test_an_answer_without_words_in_the_passages_shows_the_best_passage() -> None:
    assert page_evidence("yes", [passage("First."), passage("Second.")]) == "Rain Man: First."
    assert page_evidence("yes", []) == ""


def test_a_claim_of_the_graph_shows_the_calls_and_the_day() -> None:
    calls, facts = ['get_movie("rain man")["year"]'], [Fact("The year of Rain Man is 1988.", "knowledge graph: x")]
    said = claim_of(trace([passage("A page.")], calls=calls, facts=facts), "1988", GRAPH)
    assert said.split(" [SEP] ") == [
        "who directed rain man? (2024-03-05)",
        "1988",
        'get_movie("rain man")["year"]: The year of Rain Man is 1988.',
    ]
    assert "A page." in claim_of(trace([passage("A page.")], calls=calls, facts=facts), "1988", WEB)
