"""What the parser accepts, what it refuses and how it says so; the cases stand in canonical.txt and errors.txt."""

import json
import sys
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crag.graph.language import (
    Call,
    Condition,
    KgQueryError,
    Operator,
    Program,
    Sort,
    parse,
    render,
)
from crag.graph.schema import Domain
from tests.graph.language.cases import LABELLED, Faulty, Pair, faulty, pairs
from tests.graph.language.sample import random_program


@pytest.mark.parametrize("pair", [*pairs(), *pairs("lenient.txt")], ids=lambda pair: pair.written)
def test_what_is_written_is_read_as_its_canonical_form(pair: Pair) -> None:
    program = parse(pair.written, pair.domain)
    assert render(program) == pair.canonical
    assert parse(pair.canonical, pair.domain) == program


@pytest.mark.parametrize("case", faulty(), ids=lambda case: f"{case.kind} {case.written}")
def test_each_fault_has_its_name_and_place(case: Faulty) -> None:
    with pytest.raises(KgQueryError) as raised:
        parse(case.written, case.domain)
    fault = raised.value.fault
    assert (str(fault.kind), fault.line, fault.column) == (case.kind, case.line, case.column), fault.message
    assert fault.caret.endswith("^")
    assert len(fault.message) < 300


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ('get_moive("x")', "get_movie, "),
        ('get_movie_person_cast("x")["charakter"]', "character, "),
        ('get_movie("x","y")', "movie"),
        ('get_movie("x")\nsort(None,["a","b"])', "sort takes conditions or None"),
        ('get_movie("x",eq(year,2012,2013))', "one key and one value"),
    ],
)
def test_the_message_says_what_is_allowed_and_what_comes_near(text: str, offered: str) -> None:
    with pytest.raises(KgQueryError) as raised:
        parse(text, Domain.MOVIE)
    assert offered in raised.value.fault.message
    assert raised.value.fault.message.count(",") <= 14


@pytest.mark.parametrize(
    "text",
    ["x" * 5_000_000, 'get_movie("' + "a" * 5_000_000 + '")', "(" * 100_000, "é" * 1001],
    ids=["word", "string", "brackets", "bytes, not characters"],
)
def test_a_long_text_is_refused_without_reading_it(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(*_: object) -> None:
        raise AssertionError("the text was read")

    for step in ("depth_fault", "read"):
        monkeypatch.setattr(sys.modules[parse.__module__], step, read)
    with pytest.raises(KgQueryError, match="too_long"):
        parse(text, Domain.MOVIE)


PIECES = st.sampled_from(
    ["(", ")", "[", "]", '"', "'", ",", "\\", "\n", "*", "=", ":", "None", "ALL ", "and ", ""]
) | st.text(max_size=20)


@given(
    seed=st.integers(0, 10_000),
    domain=st.sampled_from(list(Domain)),
    piece=PIECES,
    at=st.floats(0, 1),
    lost=st.integers(0, 9),
)
def test_of_spoiled_programs_only_the_languages_own_error_escapes(
    seed: int, domain: Domain, piece: str, at: float, lost: int
) -> None:
    text = render(random_program(domain, Random(seed)))
    place = int(at * len(text))
    try:
        program = parse(text[:place] + piece + text[place + lost :], domain)
    except KgQueryError:
        return
    assert parse(render(program), domain) == program


def test_all_labelled_calls_are_read() -> None:
    if not LABELLED.is_file():
        pytest.skip(f"the labelled questions are not at {LABELLED}")
    rows = [json.loads(line) for line in LABELLED.read_text(encoding="utf-8").splitlines()]
    assert len(rows) > 500
    for row in rows:
        domain = Domain(row["domain"])
        program = parse("\n".join(row["calls"]), domain)
        assert parse(render(program), domain) == program
        assert len(program.statements) == sum(call != "None" for call in row["calls"])
        assert parse(", ".join(row["calls"]), domain) == program


def test_random_programs_and_awkward_keys_come_back() -> None:
    rng = Random(3)
    for _ in range(300):
        domain = rng.choice(list(Domain))
        program = random_program(domain, rng)
        assert parse(render(program), domain) == program
    for key in ("None", "and", "-x", "a,b", "a]b", 'say "x"', "2012", "área (km2)", "eq(a,b)", "len"):
        call = Call("get_open", ("x",), (Condition(Operator.EQ, key, "1"),), select=None if key == "len" else key)
        program = Program((call, Sort(key=key.lstrip("-"), descending=True)))
        assert parse(render(program), Domain.OPEN) == program
