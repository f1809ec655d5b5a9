"""db3's presets do what its paper says: what reaches the model, from whom, and in which order."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence

import pytest

from agents.answering import PROMPTS
from agents.crag_agent import CragAgent
from agents.deadline import Deadline
from agents.kg.schema import Domain, load_schema
from agents.kg.trainable import CallRequest, CallWriter, load_bank, parse
from agents.llm import Generation, GenerationRequest
from agents.llm.scripted_engine import ScriptedLanguageModel
from agents.settings import KgWriterSettings, ScriptedEngine, Settings, load_settings
from mock_api import serve
from tests.agents.kg.small_graph import write_graph
from training.api_pairs.pairs import REAL, Pair
from training.prompts import writer_examples

KITE = "when did the red kite come out?"
CALL = 'get_movie("the red kite")["release_date"]'
Answered = Callable[[Settings, "Recorder", str], str]
DOMAIN_WORD = "Reply with exactly one word"


class Recorder(ScriptedLanguageModel):
    """The scripted engine, remembering what it was asked, in order."""

    def __init__(self, replies: Mapping[str, str], adapters: Mapping[str, str] | None = None) -> None:
        super().__init__(ScriptedEngine(engine="scripted", replies=dict(replies), adapters=dict(adapters or {})))
        self.asked: list[GenerationRequest] = []

    def generate(self, requests: Sequence[GenerationRequest], deadline: Deadline) -> list[Generation]:
        self.asked += requests
        return super().generate(requests, deadline)

    def about(self, words: str) -> list[GenerationRequest]:
        """The requests whose last turn holds these words."""
        return [request for request in self.asked if words in request.messages[-1].content]


def scripted(preset: str, *changes: str) -> Settings:
    """A preset of db3 on the shipped fake engine, with its adapters' names; without encoders, which need weights."""
    full = load_settings(preset, [*changes])
    engine = {"engine": "scripted", "adapters": dict(full.language_model.adapters)}
    small = load_settings("scripted")
    data = full.model_dump(mode="json") | {
        "language_model": engine,
        "dense_encoder": None,
        "cross_encoder": None,
        "web": small.web.model_dump(mode="json") | {"extract": {"workers": 0}},
    }
    if full.public_data is not None:
        data["public_data"] |= {"links": {"movie": {"level": "substring"}}}
    return Settings.model_validate_json(json.dumps(data))


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("graph")
    write_graph(folder)
    with serve(folder) as address:
        yield address


@pytest.fixture
def answered(graph: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Answered]:
    """``answered(settings, model, question)``: the whole agent, with one page and the small graph."""
    agents: list[CragAgent] = []

    def answer(settings: Settings, model: Recorder, question: str) -> str:
        monkeypatch.setenv("CRAG_MOCK_API_URL", graph)
        monkeypatch.setattr("agents.crag_agent.load_language_model", lambda _: model)
        agent = CragAgent.from_settings(settings)
        agents.append(agent)
        agent.warm_up()
        page = {"page_name": "Kites", "page_url": "https://k.example", "page_snippet": "", "page_last_modified": ""}
        page["page_result"] = "<p>The red kite came out in the spring of 1999.</p>"
        asked: dict[str, list[object]] = {"interaction_id": ["1"], "query": [question], "search_results": [[page]]}
        ((found,), _) = agent.answer_batch(asked | {"query_time": ["03/05/2024, 23:18:31 PT"]})
        return found.text

    yield answer
    for agent in agents:
        agent.close()


def writer_of(preset: str) -> KgWriterSettings:
    graph = load_settings(preset).knowledge_graph
    assert graph is not None
    return graph.writer


# --- 3.2 and C.3: the calls are asked for in a chat -------------------------------------------------------------------


def test_calls_are_asked_for_in_a_chat_with_typed_described_fields_rules_and_examples() -> None:
    model = Recorder({}, {"kg_writer": "x"})
    CallWriter(writer_of("db3_task23"), model, None).write([CallRequest(KITE, domain=Domain.MOVIE)], Deadline(10))
    (request,) = model.asked  # nothing readable was written, and nobody asks again
    assert (request.prompt, request.grammar, request.adapter) == (None, None, "kg_writer")
    assert [turn.role for turn in request.messages] == ["system", "user"]
    told = request.messages[1].content
    for table in load_schema(Domain.MOVIE).callable_tables:
        assert f"{table.name}(" in told
    assert "- birthday (date, YYYY-MM-DD): date of birth" in told
    assert "- winner (true or false): true for a win, false for a nomination only" in told
    assert "3. A condition compares a key" in told
    assert told.endswith(f"Question: {KITE}\nCalls:")


@pytest.mark.parametrize("domain", Domain)
def test_the_examples_are_the_chosen_ones_in_their_order_the_same_for_every_question(domain: Domain) -> None:
    writer, model = writer_of("db3_task23"), Recorder({}, {"kg_writer": "x"})
    asked = [CallRequest(text, domain=domain) for text in ("who is this?", "how many were there in 2012?")]
    first, second = CallWriter(writer, model, None).write(asked, Deadline(10))
    assert first.examples == second.examples
    assert 0 < len(first.examples) <= writer.examples == 20
    texts = [request.messages[1].content for request in model.asked]
    for text in texts:
        places = [text.index(f"Question: {example.question}\nCalls:\n{example.calls}") for example in first.examples]
        assert places == sorted(places)
    assert texts[0].rpartition("Question: ")[0] == texts[1].rpartition("Question: ")[0]


@pytest.mark.parametrize("preset", ["db3_task23", "cpu"])
def test_the_writer_is_trained_with_the_prompt_that_it_is_asked_with(preset: str) -> None:
    """Turn for turn, whatever the form: examples, their number, fields and rules."""
    writer = writer_of(preset)
    pair = Pair(KITE, "", Domain.MOVIE, parse(CALL, Domain.MOVIE), REAL)
    (learnt,) = writer_examples([pair], writer, None, shown=(writer.examples,))
    model = Recorder({}, {"kg_writer": "x"})
    CallWriter(writer, model, None).write([CallRequest(KITE, domain=Domain.MOVIE)], Deadline(10))
    assert learnt.messages == model.asked[0].messages
    assert learnt.prompt == model.asked[0].prompt
    assert learnt.completion == CALL


def test_a_fixed_example_is_not_shown_to_itself_while_its_calls_are_learnt() -> None:
    writer = writer_of("db3_task23")
    shown = (
        CallWriter(writer, Recorder({}), None).write([CallRequest(KITE, domain=Domain.MUSIC)], Deadline(0))[0].examples
    )
    known = shown[0]
    pair = Pair(known.question, "", known.domain, known.program, "bank")
    (learnt,) = writer_examples([pair], writer, None, shown=(writer.examples,))
    assert learnt.messages[1].content.count(known.question) == 1
    assert shown[1].question in learnt.messages[1].content


def test_the_shipped_examples_are_of_our_own_bank() -> None:
    """No question of the benchmark is given away."""
    own = {(example.domain, example.question): example.calls for example in load_bank()}
    for domain in Domain:
        (written,) = CallWriter(writer_of("db3_task23"), Recorder({}), None).write(
            [CallRequest("x", domain=domain)], Deadline(0)
        )
        for example in written.examples:
            assert own[domain, example.question] == example.calls


# --- 2.3: the domain prompt -------------------------------------------------------------------------------------------


def test_tasks_2_and_3_ask_the_graph_in_the_domain_that_the_model_names(answered: Answered) -> None:
    """The bank's nearest questions are about films; what counts is the word of the model."""
    model = Recorder({f"Question: {KITE}\nField:": "music", f"{KITE}\nCalls:": "None"}, adapters_of("db3_task23"))
    answered(scripted("db3_task23"), model, KITE)
    first, second = model.asked[:2]
    assert DOMAIN_WORD in first.messages[1].content
    for word in ("movie", "sports", "finance", "music", "other"):
        assert word in first.messages[1].content
    assert first.adapter is None
    assert "get_grammy_person(artist)" in second.messages[1].content
    assert "get_movie_person_crew" not in second.messages[1].content


def test_other_is_the_open_domain(answered: Answered) -> None:
    model = Recorder({f"Question: {KITE}\nField:": "Other."}, adapters_of("db3_task23"))
    answered(scripted("db3_task23"), model, KITE)
    assert "get_open(title)" in model.asked[1].messages[1].content


def test_task_1_asks_the_domain_once_and_then_for_the_names_of_that_domain(answered: Answered) -> None:
    model = Recorder({f"Question: {KITE}\nField:": "music", f"{KITE}\nNames:": "none"}, adapters_of("db3_task1"))
    answered(scripted("db3_task1"), model, KITE)
    assert len(model.about(DOMAIN_WORD)) == 1
    (names,) = model.about("\nNames:")
    assert "albums" in names.messages[1].content
    assert model.asked.index(names) > model.asked.index(model.about(DOMAIN_WORD)[0])


def test_without_a_readable_word_no_names_are_asked_for(answered: Answered) -> None:
    model = Recorder({f"Question: {KITE}\nField:": "hm"}, adapters_of("db3_task1"))
    answered(scripted("db3_task1"), model, KITE)
    assert model.about("\nNames:") == []


# --- 2.4, 3.1, 3.3: which tuned model answers, asked how --------------------------------------------------------------


def test_the_graph_is_answered_from_first_and_each_source_by_its_own_adapter(answered: Answered) -> None:
    model = Recorder(
        {
            f"Question: {KITE}\nField:": "movie",
            f"{KITE}\nCalls:": CALL,
            "The release date": "i don't know",
            "spring": "1999",
        },
        adapters_of("db3_task23"),
    )
    assert answered(scripted("db3_task23"), model, KITE) == "1999"
    assert [request.adapter for request in model.asked] == [None, "kg_writer", "kg_answerer", "web_answerer"]
    *_, facts, pages = (request.messages[1].content for request in model.asked)
    assert "1999-05-01" in facts
    assert "spring of 1999" not in facts
    assert "spring of 1999" in pages


def test_what_the_graph_s_answerer_says_is_accepted(answered: Answered) -> None:
    model = Recorder(
        {f"Question: {KITE}\nField:": "movie", f"{KITE}\nCalls:": CALL, "The release date": "May 1999"},
        adapters_of("db3_task23"),
    )
    assert answered(scripted("db3_task23"), model, KITE) == "May 1999"
    assert model.asked[-1].adapter == "kg_answerer"


@pytest.mark.parametrize(
    ("changes", "prompt", "adapter"),
    [((), "basic", "web_answerer"), (("tuned=false", "answering.prompt=controlled"), "controlled", None)],
)
def test_the_tuned_model_gets_the_basic_prompt_and_the_untuned_one_the_controlled(
    answered: Answered, changes: tuple[str, ...], prompt: str, adapter: str | None
) -> None:
    settings = scripted("db3_task1", *changes)
    model = Recorder({f"Question: {KITE}\nField:": "movie"}, settings.language_model.adapters)
    answered(settings, model, KITE)
    last = model.asked[-1]
    assert last.adapter == adapter
    asked = last.messages[1].content
    assert asked.endswith(PROMPTS[prompt].user.partition("$context")[2].replace("$query", KITE))
    assert ("invalid question" in asked, "i don't know" in asked) == ((prompt == "controlled"),) * 2
    assert "at most 75 words" in last.messages[0].content
    assert "03/05/2024" in last.messages[0].content


def adapters_of(preset: str) -> Mapping[str, str]:
    return load_settings(preset).language_model.adapters
