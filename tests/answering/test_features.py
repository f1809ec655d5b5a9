"""The numbers that P(correct) is computed from, read from a trace."""

from crag.answering.answerer import Draft
from crag.answering.features import answer_features
from crag.core.contracts import Answer, Decision, Fact, Passage, PassageKind, Trace
from crag.engines.llm.base import Generation


def passage(text: str, logit: float) -> Passage:
    return Passage(text, "https://site.example", "page", 0, PassageKind.PAGE, 0, len(text), {"cross_encoder": logit})


def trace_of(**values: object) -> Trace:
    trace = Trace("1", "who directed the film rain man?", "03/05/2024, 23:18:31 PT")
    for name, value in values.items():
        setattr(trace, name, value)
    return trace


def draft(text: str, context: str = "") -> Draft:
    return Draft(Answer(text, Decision.ANSWERED, "web", ""), context, Generation(text, -0.5, 1, 1, "stop"))


def test_whether_the_context_says_the_answer() -> None:
    trace = trace_of(
        passages=[passage("Barry Levinson made it.", 2.0), passage("A film of 1988.", 1.0)],
        facts=[Fact("The director is Barry Sonnenfeld.", "knowledge graph")],
    )
    features = answer_features(trace, draft("Barry Levinson", "Directed by barry levinson, 1988"))
    assert features["answer_in_evidence"] == 1.0
    assert features["passages_with_answer"] == 0.5
    assert features["answer_in_facts"] == 0.5
    assert answer_features(trace, draft("Mike Nichols", "by Barry Levinson"))["answer_in_evidence"] == 0.0


def test_an_answer_from_the_graph_is_as_sure_as_the_calls_that_found_it() -> None:
    calls = Generation('get_movie("rain man")', -0.25, 200, 9, "stop")
    trace = trace_of(generations={"calls": calls}, example_similarity=0.75, passages=[passage("a", 1.0)])
    features = answer_features(trace, Draft(Answer("Barry Levinson", Decision.ANSWERED, "knowledge graph", "")))
    assert (features["calls_log_probability"], features["example_similarity"]) == (-0.25, 0.75)
    assert not {"calls_log_probability", "example_similarity"} & set(answer_features(trace, draft("x")))


def test_the_passage_with_the_answer_is_weighed_not_only_the_best_one() -> None:
    trace = trace_of(
        passages=[passage("Films of 1988.", 5.0), passage("Rain Man was directed by Barry Levinson.", 2.0)],
    )
    features = answer_features(trace, draft("Barry Levinson"))
    assert (features["top_passage_logit"], features["answer_passage_logit"]) == (5.0, 2.0)
    assert features["question_in_answer_passage"] == 3 / 5  # who, directed, film, rain, man


def test_passages_that_are_not_read_still_tell_how_far_the_best_one_stands_out() -> None:
    trace = trace_of(
        passages=[passage("Rain Man was directed by Barry Levinson.", 5.0)],
        passages_left_out=[passage("Barry Levinson made it.", 2.0), passage("A film of 1988.", 1.0)],
    )
    features = answer_features(trace, draft("Barry Levinson"))
    assert (features["top_passage_margin"], features["passages_with_answer"]) == (3.0, 2 / 3)
