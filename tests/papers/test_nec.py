"""NEC's preset does what its paper says: what reaches cross-encoder and language model, and which gate closes."""

import math
import sys
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from crag.core.contracts import I_DONT_KNOW, INVALID_QUESTION
from crag.engines.llm import GenerationRequest
from crag.engines.llm.vllm_worker import build_arguments
from crag.settings import VllmEngine, load_settings
from tests.papers.pipeline import (
    FixedRoute,
    Pipeline,
    documents,
    fifty_pages,
    paragraphs,
    pipeline,
    text_of,
    word,
    words,
)
from tests.pipeline.asking import page

QUESTION = "who built the lighthouse of bergamo?"
OPEN = FixedRoute(domain="open", question_type="simple", static_or_dynamic="static")
FITS = "Ada Morris built the lighthouse of Bergamo in 1911."


def says(request: GenerationRequest) -> str:
    """The first answer, then the verdict on it."""
    return "Correct" if "Correct" in text_of(request) else "Ada Morris"


@pytest.fixture
def nec() -> Iterator[Pipeline]:
    with pipeline("nec", says, route=OPEN) as built:
        yield built


@pytest.mark.parametrize(
    ("field", "label"),
    [
        ("domain", "finance"),
        ("question_type", "false_premise"),
        ("question_type", "post-processing"),
        ("static_or_dynamic", "real-time"),
        ("static_or_dynamic", "fast-changing"),
    ],
)
def test_a_question_of_a_hard_class_is_not_answered_and_no_model_is_asked(field: str, label: str) -> None:
    """Section 2.1, step 1, and 3.3.2. "i don't know" also for false premises."""
    with pipeline("nec", says, route=FixedRoute(**{field: label})) as nec:
        answer, trace = nec.ask(QUESTION, page(paragraphs(FITS)))
        assert answer.text == I_DONT_KNOW
        assert field in trace.gates[0].name
        assert not nec.model.requests
        assert not nec.cross.calls


@pytest.mark.parametrize(
    "question_type", ["simple", "simple_w_condition", "set", "comparison", "aggregation", "multi-hop"]
)
@pytest.mark.parametrize("dynamism", ["static", "slow-changing"])
def test_all_other_classes_are_answered(question_type: str, dynamism: str) -> None:
    for domain in ("movie", "music", "sports", "open"):
        route = FixedRoute(domain=domain, question_type=question_type, static_or_dynamic=dynamism)
        with pipeline("nec", says, route=route) as nec:
            assert nec.ask(QUESTION, page(paragraphs(FITS)))[0].text == "Ada Morris"


def test_of_fifty_pages_the_five_are_read_whose_snippets_the_cross_encoder_likes_best(nec: Pipeline) -> None:
    """Section 2.1, step 2: question and snippet are scored, page names are not."""
    best = [3, 11, 24, 38, 49]
    pages = fifty_pages(FITS, "who built the lighthouse of bergamo", "the lighthouse of bergamo", best)
    _, trace = nec.ask(QUESTION, *pages)
    assert trace.pages_read == 5
    assert nec.cross.calls[0] == [(QUESTION, each["page_snippet"]) for each in pages]
    assert {passage.page_rank for passage in trace.passages} == set(best)


def test_words_over_thirty_letters_and_lines_that_are_not_english_never_reach_the_ranking(nec: Pipeline) -> None:
    """Section 2.1, step 3."""
    lost, kept = "thesewordshavelosttheirspacesss", "thesewordshavelosttheirspacess"
    assert (len(lost), len(kept)) == (31, 30)
    html = paragraphs(f"{FITS} {lost} {kept}", "灯台は誰が建てたのか、その歴史について書かれた文章です。", "The end.")
    nec.ask(QUESTION, page(html))
    (chunk,) = nec.cross.texts
    assert kept in chunk
    assert lost not in chunk
    assert "灯台" not in chunk
    assert chunk.endswith("The end.")


def test_chunks_have_150_words_and_share_25_with_the_one_before(nec: Pipeline) -> None:
    """Section 2.1, step 4."""
    text = words(0, 400).split()
    nec.ask(QUESTION, page(paragraphs(" ".join(text))))
    chunks = sorted((chunk.split() for chunk in nec.cross.texts), key=lambda chunk: text.index(chunk[0]))
    assert chunks == [text[0:150], text[125:275], text[250:400]]


def test_of_more_than_2000_chunks_bm25_leaves_2000_and_of_fewer_it_leaves_all() -> None:
    """Section 2.1, step 4. Nothing else drops a chunk: the cross-encoder sees all that are left."""
    pages = [page(paragraphs(words(35_000 * number, 35_000)), number) for number in range(5)]
    changes = ["web.chunk.words=20", "web.chunk.overlap=5"]
    with pipeline("nec", says, *changes, route=OPEN) as nec:
        question = f"who knows {word(100)} and {word(140_000)}?"
        nec.ask(question, *pages)
        assert len(nec.cross.texts) == 2000
        assert {word(100), word(140_000)} <= set(" ".join(nec.cross.texts).split())
        nec.ask(question, page(paragraphs(words(0, 29_990))))
        assert len(nec.cross.texts) == 1999


def test_the_best_fifteen_chunks_are_read_best_first(nec: Pipeline) -> None:
    """Section 2.1, step 5."""
    fits = QUESTION.rstrip("?").split()
    pieces = [
        " ".join([*fits[: 2 + number % 4], *words(200 * number, 123 - number % 4).split()]) for number in range(40)
    ]
    nec.ask(QUESTION, page(paragraphs(" ".join(pieces))))
    scores = sorted((score(chunk) for chunk in nec.cross.texts), reverse=True)
    shown = documents(text_of(nec.model.requests[0]))
    assert len(nec.cross.texts) > 15
    assert [score(chunk) for chunk in shown] == scores[:15]


def score(chunk: str) -> int:
    return len(set(QUESTION.rstrip("?").split()) & set(chunk.split()))


@pytest.mark.parametrize(("above", "text"), [(-1e-6, I_DONT_KNOW), (0.0, I_DONT_KNOW), (1e-6, "Ada Morris")])
def test_a_best_score_of_0_8_or_less_is_not_answered_and_the_model_not_asked(above: float, text: str) -> None:
    """Section 2.1, step 5. The score is a probability: what the model's library makes of the logit by default."""
    with pipeline("nec", says, route=OPEN, logit=lambda *_: math.log(0.8 / 0.2) + above) as nec:
        answer, trace = nec.ask(QUESTION, page(paragraphs(FITS)))
        assert answer.text == text
        assert bool(nec.model.requests) is (text != I_DONT_KNOW)
        assert bool(trace.gates) is (text == I_DONT_KNOW)


def test_the_generate_prompt_is_plain_text_with_the_question_before_and_after_the_references(nec: Pipeline) -> None:
    """Section 2.4: a base model, so no chat; top-p 0.95, temperature 0, 50 new tokens."""
    nec.ask(QUESTION, page(paragraphs(FITS)))
    request = nec.model.requests[0]
    assert request.messages == ()
    prompt = request.prompt or ""
    first, last = prompt.index(QUESTION), prompt.rindex(QUESTION)
    assert first < prompt.index(FITS) < last
    assert prompt.count(QUESTION) == 2
    assert I_DONT_KNOW in prompt[:first]
    assert "may or may not" in prompt[:first]
    assert "2024" not in prompt, "the paper's prompts do not tell the time"
    assert (request.temperature, request.top_p, request.max_tokens) == (0.0, 0.95, 50)


def test_the_refine_prompt_holds_document_question_and_answer_in_this_order(nec: Pipeline) -> None:
    """Section 2.4; the second look has the settings of the first."""
    nec.ask(QUESTION, page(paragraphs(FITS)))
    first, second = nec.model.requests
    prompt = second.prompt or ""
    assert second.messages == ()
    assert prompt.index(FITS) < prompt.index(QUESTION) < prompt.index("\nAda Morris\n")
    assert documents(prompt) == documents(text_of(first)), "the same document"
    assert (second.temperature, second.top_p, second.max_tokens) == (0.0, 0.95, 50)


@pytest.mark.parametrize(
    ("first", "verdict", "text"),
    [
        ("Ada Morris", "Correct", "Ada Morris"),
        ("Ada Morris", "I don't know", I_DONT_KNOW),
        ("Ada Morris", "Bo Nielsen", "Bo Nielsen"),
        ("I don't know", "Bo Nielsen", "Bo Nielsen"),
        ("I don't know", "I don't know", I_DONT_KNOW),
        ("invalid question", "Correct", INVALID_QUESTION),
    ],
)
def test_every_initial_answer_is_refined(first: str, verdict: str, text: str) -> None:
    """Section 2.1, step 7: the initial answer, whatever it is, goes through the same model once more."""
    with pipeline("nec", lambda request: verdict if "Correct" in text_of(request) else first, route=OPEN) as nec:
        answer, _ = nec.ask(QUESTION, page(paragraphs(FITS)))
        assert answer.text == text
        assert len(nec.model.requests) == 2


def test_the_knowledge_graph_is_not_asked_even_where_there_is_one() -> None:
    """Section 2.1: one architecture for all tasks, without the mock API."""
    with pipeline("nec", says, route=OPEN, graph="http://127.0.0.1:9") as nec:
        answer, trace = nec.ask(QUESTION, page(paragraphs(FITS)))
        assert (answer.text, answer.source) == ("Ada Morris", "web")
        assert trace.graph_state is None
        assert not trace.calls


def test_vllm_is_started_with_the_parameters_of_the_paper(monkeypatch: pytest.MonkeyPatch) -> None:
    """Section 2.4; vLLM itself need not be installed."""
    platform = SimpleNamespace(is_cpu=lambda: False)
    monkeypatch.setitem(sys.modules, "vllm.platforms", SimpleNamespace(current_platform=platform))
    monkeypatch.setattr("crag.engines.llm.vllm_worker.model_folder", lambda name: name)
    engine = load_settings("nec").language_model
    assert isinstance(engine, VllmEngine)
    reached = build_arguments(engine)
    wanted = {
        "model": "llama-2-70b-awq",
        "quantization": "awq",
        "max_model_len": 4096,
        "enforce_eager": True,
        "gpu_memory_utilization": 0.8,
        "tensor_parallel_size": 4,
    }
    assert {name: reached[name] for name in wanted} == wanted
