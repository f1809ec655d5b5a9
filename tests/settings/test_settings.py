"""Presets are data: each loads, and each kind of mistake is reported with file, key and what is allowed."""

import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import ValidationError

from crag.answering.prompts import PROMPTS
from crag.core.places import REPOSITORY
from crag.settings import (
    KG_VARIABLE,
    OVERRIDES_VARIABLE,
    PRESET_VARIABLE,
    PRESETS,
    AnswerPromptName,
    DeadlineSettings,
    ReviewPromptName,
    ScriptedEngine,
    SettingsError,
    active_preset,
    available_presets,
    graph_address,
    load_settings,
)
from crag.weights.preset_files import read_preset

CPU = (PRESETS / "cpu.toml").read_text(encoding="utf-8")


def refused(*lines: str, preset: str | Path = "cpu") -> str:
    """Why the preset with these changes is refused."""
    with pytest.raises(SettingsError) as caught:
        load_settings(preset, lines)
    return str(caught.value)


@pytest.mark.parametrize("name", available_presets())
def test_every_shipped_preset_loads_under_its_own_name(name: str) -> None:
    settings = load_settings(name)
    assert settings.name == name
    assert 1 <= settings.batch_size <= 16
    # A server of one's own is in no contest.
    assert settings.deadline.seconds_per_query == (120.0 if name == "endpoint" else 30.0)
    with pytest.raises(ValidationError, match="frozen"):
        settings.batch_size = 3
    untuned = load_settings(name, ["tuned = false"])
    assert not untuned.language_model.adapters
    assert set(untuned.adapters_used.values()) == {None}


@pytest.mark.parametrize(
    ("found", "replacement", "key", "reported"),
    [
        ("snippets = true", "snipets = true", '"web.snipets"', "allowed keys: after_graph, chunk, context"),
        ("child_characters = 175", "child_chars = 200", '"web.chunk.child_chars"', "child_characters"),
        ("batch_size = 4\n", "batch_size = 17\n", '"batch_size"', "less than or equal to 16 (found 17)"),
        ("top_k = 32", "top_k = 32.0", '"web.retrieve.0.top_k"', "valid integer"),
        (
            'method = "parent_child"',
            'method = "pages"',
            '"web.chunk.method"',
            "'pages' is not known; allowed: parent_child, tokens, words",
        ),
        ('method = "reciprocal_rank_fusion"', "", '"web.retrieve.1.method"', "missing; allowed: bm25, dense"),
        ("child_characters = 175", "child_characters = 900", '"web.chunk"', "must not exceed parent_characters"),
    ],
)
def test_a_mistake_is_reported_with_file_key_and_what_is_allowed(
    tmp_path: Path, found: str, replacement: str, key: str, reported: str
) -> None:
    assert found in CPU
    path = tmp_path / "mine.toml"
    path.write_text(CPU.replace(found, replacement, 1), encoding="utf-8")
    message = refused(preset=path)
    assert message.startswith(f"{path}: key {key}: ")
    assert reported in message
    assert "\n" not in message


def test_a_preset_that_extends_another_says_only_what_differs(tmp_path: Path) -> None:
    base, mine = tmp_path / "base.toml", tmp_path / "deep" / "mine.toml"
    base.write_text('extends = "cpu"\ndeadline = "none"\nanswering.word_limit = 7', encoding="utf-8")
    mine.parent.mkdir()
    mine.write_text(
        'extends = "../base.toml"\ntuned = false\n[language_model]\nengine = "scripted"\n', encoding="utf-8"
    )
    cpu, settings = load_settings("cpu", []), load_settings(mine, ["answering.max_new_tokens = 8"])

    assert (settings.answering.word_limit, settings.answering.max_new_tokens) == (7, 8)
    assert settings.answering.prompt == cpu.answering.prompt
    assert settings.language_model == ScriptedEngine(engine="scripted"), "another engine has keys of its own"
    assert settings.deadline == DeadlineSettings()
    assert settings.web == cpu.web
    assert read_preset(str(mine)) is not None


def test_without_a_graph_the_model_is_loaded_without_the_adapters_that_only_it_uses() -> None:
    settings = load_settings("submission")
    tuned = settings.language_model.adapters
    assert {"kg_writer", "kg_answerer", "web_answerer"} == set(tuned)
    assert settings.engine(has_graph=True).adapters == tuned
    assert settings.engine(has_graph=False).adapters == {"web_answerer": tuned["web_answerer"]}

    shared = load_settings("submission", ["answering.adapter = kg_answerer"])
    assert set(shared.engine(has_graph=False).adapters) == {"kg_answerer", "web_answerer"}, "pages use it too"


def test_without_adapters_the_table_untuned_comes_before_ones_own_changes(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(
        'extends = "cpu"\nanswering.prompt = "basic"\n[untuned.answering]\nprompt = "controlled"\nword_limit = 9\n'
        'confidence = "none"\n',
        encoding="utf-8",
    )
    tuned, untuned = load_settings(mine, []).answering, load_settings(mine, ["tuned=false"]).answering
    assert (tuned.prompt, tuned.word_limit, tuned.confidence is None) == ("basic", 20, False)
    assert (untuned.prompt, untuned.word_limit, untuned.confidence) == ("controlled", 9, None)

    lines = ["answering.prompt=reader", "tuned=false"]
    assert load_settings(mine, lines).answering.prompt == "reader", "in any order"

    mine.write_text(f"tuned = false\n{mine.read_text()}", encoding="utf-8")
    assert (read_preset(str(mine)) or {})["answering"]["prompt"] == "controlled", "for what looks for weights, too"


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ('extends = "cup"', r'mine\.toml: key "extends": found \'cup\', allowed: .*cpu, db3_task1'),
        ('extends = "other.toml"', r"found 'other\.toml'"),
        ("extends = 3", r"found 3"),
        ('extends = "mine.toml"', r"mine\.toml extends this file"),
        ('extends = "cpu"\nanswering.speed = 3', r'mine\.toml: key "answering\.speed": unknown key'),
    ],
)
def test_a_preset_that_cannot_be_extended_is_reported(tmp_path: Path, text: str, reported: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    assert re.search(reported, refused(preset=path))


def test_the_environment_changes_the_active_preset_and_its_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(PRESET_VARIABLE, raising=False)
    assert active_preset() in available_presets()
    monkeypatch.setenv(PRESET_VARIABLE, "cpu")
    monkeypatch.setenv(OVERRIDES_VARIABLE, "answering.refine = {}\n\nanswering.audit = true\n")
    settings = load_settings()
    assert (settings.name, settings.answering.audit) == ("cpu", True)
    assert settings.answering.refine is not None


def test_prompt_names_in_the_settings_are_the_keys_of_the_table() -> None:
    """A prompt for answers has no place for an answer, and one that reviews has."""
    answers, reviews = set(get_args(AnswerPromptName)), set(get_args(ReviewPromptName))
    assert {name for name, prompt in PROMPTS.items() if "$answer" not in prompt.user} == answers
    assert {name for name, prompt in PROMPTS.items() if "$answer" in prompt.user} == reviews


@pytest.mark.parametrize("written", ["nec", '"nec"', "'nec'", ' "nec" '])
def test_quotes_that_a_container_engine_keeps_are_no_part_of_a_variable(
    monkeypatch: pytest.MonkeyPatch, written: str
) -> None:
    monkeypatch.setenv(PRESET_VARIABLE, written)
    monkeypatch.setenv(OVERRIDES_VARIABLE, '"answering.word_limit=21"')
    settings = load_settings()
    assert (settings.name, settings.answering.word_limit) == ("nec", 21)


def test_quotes_are_no_part_of_the_address_of_a_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KG_VARIABLE, ' "http://127.0.0.1:8000" ')
    assert graph_address() == "http://127.0.0.1:8000"
    assert graph_address("https://example.org/graph") == "https://example.org/graph", "the argument wins"
    monkeypatch.setenv(KG_VARIABLE, '""')
    assert graph_address() == ""


@pytest.mark.parametrize(
    "address", ["foo", "ftp://x", "http://", "localhost:8000", "http://x:no", "http://x:0", "http://[::1", "{}"]
)
def test_what_is_no_address_of_a_graph_is_refused_with_its_source(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    with pytest.raises(SettingsError, match=f"kg_url: '{re.escape(address)}' is not an address such as http://"):
        graph_address(address)
    monkeypatch.setenv(KG_VARIABLE, address)
    with pytest.raises(SettingsError, match=f"{KG_VARIABLE}: '{re.escape(address)}' is not an address"):
        graph_address()


@pytest.mark.parametrize("change", ["batch_size = 99", "batch_size = "])
def test_a_wrong_change_of_the_environment_is_named_with_its_variable(
    monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    monkeypatch.setenv(OVERRIDES_VARIABLE, change)
    with pytest.raises(SettingsError, match=rf"{change.strip()}'? \(of \$CRAG_SETTINGS\)"):
        load_settings("cpu")


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder outside the repository with something at each path that a change may name."""
    for name in ("mine/model", "llama", "crag/presets"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "cal.json").write_text("{}", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


VLLM = "language_model={engine='vllm', model='x'}\ntuned=false"
OPENAI = "language_model={engine='openai'}\ntuned=false"


@pytest.mark.parametrize(
    ("changes", "key", "path"),
    [
        ([VLLM, "language_model.model=mine/model"], "language_model.model", "HERE/mine/model"),
        ([VLLM, "language_model.model=./mine/model/"], "language_model.model", "HERE/mine/model"),
        ([VLLM, "language_model.model=./missing"], "language_model.model", "HERE/missing"),
        ([VLLM, "language_model.model=../missing"], "language_model.model", "HERE/../missing"),
        ([VLLM, "language_model.model=~/m"], "language_model.model", "HERE/home/m"),
        ([VLLM, "language_model.model=/m/x"], "language_model.model", "/m/x"),
        ([VLLM, "language_model.model=OWNER/NAME"], "language_model.model", "OWNER/NAME"),  # of the hub
        ([VLLM, "language_model.model=llama"], "language_model.model", "llama"),  # a name of the manifest
        (["language_model.adapters.kg_writer=mine/model"], "language_model.adapters", {"kg_writer": "HERE/mine/model"}),
        ([VLLM, "language_model={model='mine/model'}"], "language_model.model", "HERE/mine/model"),
        # The name that a server gave its model
        ([OPENAI, "language_model.model=mine/model"], "language_model.model", "mine/model"),
        ([OPENAI, "language_model.tokenizer=mine/model"], "language_model.tokenizer", "HERE/mine/model"),
        (["dense_encoder.model=mine/model"], "dense_encoder.model", "HERE/mine/model"),
        (["cross_encoder.model=mine/model"], "cross_encoder.model", "HERE/mine/model"),
        (["router.classifiers=['cpu', 'mine/model']"], "router.classifiers", ("cpu", "HERE/mine/model")),
        (["answering.confidence.model=cal.json"], "answering.confidence.model", "HERE/cal.json"),
        (["answering.confidence.model=llama"], "answering.confidence.model", "llama"),
        (["public_data.tables=llama"], "public_data.tables", "HERE/llama"),
        # What is not here may be in the repository, as examples write it
        (["knowledge_graph.writer.fixed_examples=crag/graph/writing/fixed"], "knowledge_graph.writer.fixed_examples",
         "crag/graph/writing/fixed"),
        (["knowledge_graph.writer.fixed_examples=crag/presets"], "knowledge_graph.writer.fixed_examples",
         "HERE/crag/presets"),
    ],
)  # fmt: skip
def test_a_path_in_a_change_begins_at_the_current_folder(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch, changes: list[str], key: str, path: Any
) -> None:
    monkeypatch.setenv("HOME", str(elsewhere / "home"))
    expected = json.loads(json.dumps(path).replace("HERE/..", str(elsewhere.parent)).replace("HERE", str(elsewhere)))
    changes = "\n".join(changes).splitlines()
    value: Any = load_settings("cpu", changes)
    for part in key.split("."):
        value = getattr(value, part)
    assert value == (tuple(expected) if isinstance(expected, list) else expected)

    # As the agent gets them from a command
    monkeypatch.setenv(OVERRIDES_VARIABLE, "\n".join(changes))
    assert load_settings("cpu") == load_settings("cpu", changes)


@pytest.mark.usefixtures("elsewhere")
def test_a_path_in_a_preset_begins_at_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = 'extends = "cpu"\n[public_data]\ntables = "mine/model"\n'
    Path("own.toml").write_text(tables, encoding="utf-8")
    settings = load_settings("own.toml", ["answering.word_limit=20"])
    assert settings.public_data is not None
    assert settings.public_data.tables == "mine/model"

    # In the repository itself a change and a file mean the same settings
    monkeypatch.chdir(REPOSITORY)
    written, changed = load_settings("db3_task23"), load_settings("db3_task23", [
        "knowledge_graph.writer.fixed_examples=./crag/graph/writing/fixed/",
    ])  # fmt: skip
    assert changed == written


def test_an_override_changes_one_key_and_keeps_its_neighbours() -> None:
    plain, changed = load_settings("cpu"), load_settings("cpu", ["answering.word_limit = 7", "knowledge_graph=none"])
    assert (changed.answering.word_limit, changed.knowledge_graph) == (7, None)
    assert changed.answering.model_copy(update={"word_limit": plain.answering.word_limit}) == plain.answering


@pytest.mark.parametrize(
    "change",
    ["web.pages.keep=-1", "web.pages={keep=-1}", "web.keep=1", "web.pages=3"],
)
def test_a_change_that_is_wrong_is_named_beside_the_preset(change: str) -> None:
    said = refused("answering.word_limit=7", change, preset="scripted")
    assert re.search(rf'scripted\.toml, changed by {re.escape(change)}: key "web\.', said)


CLASS_GATE = "answering.gates = [{{gate = 'class', field = '{}', classes = ['{}']{}}}]"
SCORE_GATE = "answering.gates = [{{gate = 'score', score = '{}', minimum = {}}}]"
BY_WORD, BY_CERTAINTY = (
    f"router = {{engine = 'prompt', prompt = 'domain_{kind}'}}" for kind in ("word", "with_certainty")
)


REFUSED = [
    # what could never open or close
    ([BY_CERTAINTY, CLASS_GATE.format("question_type", "set", "")], "domain and static_or_dynamic, not question_type"),
    ([BY_WORD, CLASS_GATE.format("static_or_dynamic", "static", "")], "domain_word gives domain, not static_or_dyn"),
    (
        [BY_WORD, CLASS_GATE.format("domain", "music", ", above = 0.5")],
        "domain music > 0.5' has the key above, but a router",
    ),
    ([SCORE_GATE.format("top_passage", "80")], r'gates\.0\.minimum": .*less than 1 \(found 80\)'),
    ([SCORE_GATE.format("top_passage", "nan")], "found nan"),
    (["deadline.seconds_per_query = inf"], r'seconds_per_query": Input should be a finite number \(found inf\)'),
    ([CLASS_GATE.format("domain", "weather", "")], "domain has no class weather; allowed: finance"),
    ([CLASS_GATE.format("domain", "music", "")], "router is missing"),
    (["public_data.method = prompt"], r"router is missing, but public_data\.method is prompt.*gives domain"),
    (["knowledge_graph.source_policy = synthesis"], "router is missing, .* synthesis, .* gives static_or_dynamic"),
    (["router = {engine = 'prompt', minimum_certainty = 0.9}"], '"router": .*needs prompt domain_with_certainty'),
    # parts that are used and not configured, or configured and not used
    (["cross_encoder = none"], "cross_encoder is missing"),
    (["language_model.adapters = {'my.own' = 'here'}"], "'my.own' cannot name an adapter"),
    (["answering.adapter = nobody"], "nobody' is not among"),
    (["answering.self_assessment = {}"], "go together"),
    (
        ["answering = {prompt='assessed', self_assessment={}, own_prompt={user='$context $query'}}"],
        "not own_prompt",
    ),
    (["knowledge_graph.writer.names_from_question = ['movie']"], "form question names freely"),
    (["web.after_graph = false"], r"articles pages needs web\.after_graph = true"),
    # prompts for something else
    (["answering.prompt = refine"], '"answering.prompt": Input should be'),
    (["answering.refine.prompt = basic"], '"answering.refine.prompt": Input should be'),
    (["knowledge_graph.answer_prompt = assessed"], "answer_prompt assessed needs answering.self_assessment"),
    (
        ["knowledge_graph.read_facts_of = []", "knowledge_graph.answer_adapter = x"],
        '"knowledge_graph": Value error, answer_adapter is for a model that reads facts',
    ),
    # custom prompts without the placeholders that an answer needs
    (["answering.own_prompt = {user = '$context'}"], r"the user turn needs \$query"),
    (["answering.own_prompt = {user = '$context $query $answer'}"], r"holder \$answer; allowed: \$context, \$query,"),
    (["answering.own_prompt = {user = '$context $query for 5 $'}"], r"write \$\$ for a dollar"),
    (["answering.own_prompt = {system = '$context and $query', user = ''}"], r"user turn needs \$context and \$query"),
    # changes that cannot be read
    (["answering.prompt = two words"], "KEY=VALUE"),
    # keys as they are written, also where kinds of tables have the names of keys
    ([SCORE_GATE.format("top_page", "0.5")], "\"answering.gates.0.score\": Input should be 'top_passage'"),
    ([SCORE_GATE.format("top_passage", "0.5, most = 1")], '.0.most": unknown key; allowed keys: gate, minimum, score'),
    (["router = {engine = 'prompt', promt = 'x'}"], '"router.promt": unknown key; allowed keys: adapter, engine, max'),
    (["public_data.links.movie.levle = exact"], '"public_data.links.movie.levle": unknown key; allowed keys: level'),
]


@pytest.mark.parametrize(("lines", "reported"), REFUSED)
def test_changes_that_cannot_work_are_refused_with_the_key_as_it_is_written(lines: list[str], reported: str) -> None:
    assert re.search(reported, refused("router = none", *lines))


def test_a_person_waits_longer_than_the_contest_unless_a_change_names_the_time() -> None:
    assert load_settings("cpu").deadline.for_a_person().seconds_per_query == 300.0
    assert load_settings("cpu", ["deadline.seconds_per_query=20"]).deadline.for_a_person().seconds_per_query == 20.0
    assert load_settings("endpoint").deadline.for_a_person().seconds_per_query == 120.0
