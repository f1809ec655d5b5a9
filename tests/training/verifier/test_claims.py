"""Claims for the verifier: wrong ones are wrong in the way that they say, and right ones are right."""

import json
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from agents.kg.trainable import Domain, parse, render
from training.verifier.__main__ import main
from training.verifier.reading_claims import ReadingRow, is_held_out, reading_claims
from training.verifier.wrong_programs import names_of, wrong_programs

FILM = 'get_movie("heat")["release_date"]'
GAMES = 'get_nba_on_date("boston celtics","2022-12-01",eq(result,"W"))["opponent"]'
SORTED = 'get_movie_person_crew(None,"michael mann",eq(job,"Director"))\nsort(None,-release_date)["movie_name"]'
TWO = 'get_movie("heat")["budget"]\nget_movie("alien")["budget"]'


@pytest.mark.parametrize(
    ("domain", "calls", "change", "expected"),
    [
        (Domain.MOVIE, SORTED, "order", SORTED.replace("-release", "release")),
        (Domain.MOVIE, FILM, "count", 'get_movie("heat")["release_date"]["len"]'),
        (Domain.MOVIE, FILM, "name", 'get_movie("alien")["release_date"]'),
        (Domain.SPORTS, GAMES, "condition", 'get_nba_on_date("boston celtics","2022-12-01")["opponent"]'),
    ],
)
def test_a_change_makes_the_mistake_that_it_names(domain: Domain, calls: str, change: str, expected: str) -> None:
    names = names_of([(Domain.MOVIE, parse(TWO, Domain.MOVIE))])
    made = wrong_programs(domain, parse(calls, domain), names, Random(1))
    assert [render(program) for program in made[change]] == [expected]


def test_every_wrong_program_differs_and_can_be_read_back() -> None:
    names = names_of([(Domain.MOVIE, parse(TWO, Domain.MOVIE))])
    for domain, calls in ((Domain.MOVIE, FILM), (Domain.MOVIE, SORTED), (Domain.MOVIE, TWO), (Domain.SPORTS, GAMES)):
        program = parse(calls, domain)
        for made in wrong_programs(domain, program, names, Random(1)).values():
            assert all(one != program and parse(render(one), domain) == one for one in made)
    assert wrong_programs(Domain.MOVIE, parse(TWO, Domain.MOVIE), names, Random(1))["side"]


def test_another_time_is_near_but_not_the_same() -> None:
    (moved,) = wrong_programs(Domain.SPORTS, parse(GAMES, Domain.SPORTS), {}, Random(0))["time"]
    assert "2022-12-" in render(moved)
    assert "2022-12-01" not in render(moved)


PASSAGE = "The bridge was opened in 1931 by Anna Berg. It was closed in 1978 by Karl Lund."


def row(question: str, answer: str, title: str = "Bridge") -> ReadingRow:
    return ReadingRow(
        id=question, source="squad2", question=question, title=title, passage=PASSAGE,
        answers=[answer] if answer else [], answerable=bool(answer),
    )  # fmt: skip


def test_claims_about_a_passage() -> None:
    rows = [row("When was it opened?", "1931"), row("Who closed it?", "Karl Lund"), row("Who sold it?", "")]
    claims = list(reading_claims(rows, seed=0))
    right = [claim.text.split(" [SEP] ")[:2] for claim in claims if claim.supported]
    assert right == [["When was it opened?", "1931"], ["Who closed it?", "Karl Lund"]]
    unanswerable = [claim for claim in claims if claim.text.startswith("Who sold it?")]
    assert unanswerable
    assert not any(claim.supported for claim in unanswerable)
    wrong = [claim.text.split(" [SEP] ") for claim in claims if not claim.supported]
    assert not any(answer == "1931" for question, answer, _ in wrong if question.startswith("When"))


def test_the_command_writes_rows_for_the_classifier(tmp_path: Path) -> None:
    titles = [f"Title {number}" for number in range(20)]
    folder = tmp_path / "reading"
    folder.mkdir()
    lines = [row("When was it opened?", "1931", title).model_dump() for title in titles]
    (folder / "own.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    out = tmp_path / "claims.jsonl"
    assert main(["--count", "12", "--reading", str(folder), "--out", str(out)]) == 0
    made = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    kinds = Counter((claim["kind"], claim["supported"]) for claim in made)
    assert kinds["graph right", "yes"] >= 12
    assert kinds["graph key", "no"] > 0
    shown = {claim["group"] for claim in made if claim["kind"].startswith("squad2")}
    assert shown == {title for title in titles if not is_held_out(title)}
