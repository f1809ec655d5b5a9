"""How often the public-data path has something to say, and how often the answer is in it.

    python -m benchmarks.public_data_coverage [--questions FILE] [--public DIR] [--show N]

Questions of the domains movie, music and finance; mentions by the method ``spans``, which needs no model. Two folders
of tables: the shipped one, and one built from the public files in DIR (Oscars, Grammys, companies), if there are any.
Each once with the domain read from the question's words and once with the question's own label, as a perfect router
would give it. "gold in facts" counts answers that facts can spell out (`benchmarks.answer_recall`), recall 1.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agents.deadline import Deadline
from agents.public_data import ShippedPublicData
from agents.public_data.build import build_companies, build_films, build_grammys, build_oscars
from agents.public_data.tables import SHIPPED_TABLES
from agents.queries import BATCH_KEYS, parse_batch
from agents.settings import PublicDataSettings
from benchmarks.answer_recall import answer_recall, is_measurable
from evaluation.datasets import DatasetError, read_records

SHARED = Path(__file__).parents[2] / "shared/data"
DOMAINS = ("movie", "music", "finance")
BATCH = 16


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures. Exit code: 0 done, 2 the questions cannot be read."""
    parser = argparse.ArgumentParser(description="coverage of the public-data path")
    parser.add_argument("--questions", type=Path, default=SHARED / "crag/questions_split0.jsonl")
    parser.add_argument("--public", type=Path, default=SHARED / "public", help="folder of the public files")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print N questions with their facts")
    options = parser.parse_args(arguments)
    try:
        rows = [record.data for record in read_records(options.questions)]
    except DatasetError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    rows = [row for row in rows if row["domain"] in DOMAINS]
    with tempfile.TemporaryDirectory() as folder:
        built = Path(folder)
        folders = {"shipped": SHIPPED_TABLES}
        if build_what_is_there(options.public, built):
            folders["built"] = built
        for name, tables in folders.items():
            for known in (False, True):
                report(name, tables, rows, domain_is_known=known, show=options.show)
    return 0


def build_what_is_there(public: Path, out: Path) -> bool:
    """Build a table from each public file that is there; False where none is."""
    oscars, grammys = public / "the_oscar_award.csv", public / "the_grammy_awards.csv"
    companies, films = public / "finance_marketcap_eps_pe.json", public / "movies_metadata.csv"
    if oscars.exists():
        build_oscars(oscars, out)
    if grammys.exists():
        build_grammys(grammys, out)
    if companies.exists():
        build_companies(companies, out, "")
    if films.exists():
        people = public / "credits.csv"
        build_films(films, out, people if people.exists() else None)
    return any(out.iterdir())


def report(name: str, tables: Path, rows: Sequence[dict[str, Any]], *, domain_is_known: bool, show: int) -> None:
    """Print one table of figures."""
    started = time.perf_counter()
    settings = PublicDataSettings(tables=str(tables), method="spans")
    data = ShippedPublicData(settings, None, None)
    loading = time.perf_counter() - started
    started = time.perf_counter()
    contexts = list(contexts_of(data, rows, domain_is_known=domain_is_known))
    milliseconds = 1000 * (time.perf_counter() - started) / max(len(rows), 1)
    print(f"\n{name} tables, domain {'known' if domain_is_known else 'from the words'}", end="")
    print(f" (loaded in {loading:.2f} s, {milliseconds:.2f} ms a question)")
    print(f"{'':9}{'questions':>10}{'with facts':>12}{'measurable':>12}{'gold in facts':>15}{'characters':>12}")
    for domain in (*DOMAINS, "all"):
        own = [(row, text) for row, text in zip(rows, contexts, strict=True) if domain in {row["domain"], "all"}]
        spoken = [(row, text) for row, text in own if text]
        measurable = [pair for pair in spoken if _measurable(pair[0])]
        hits = [row for row, text in measurable if answer_recall(row["query"], gold(row), text) == 1]
        length = sum(len(text) for _, text in spoken) // max(len(spoken), 1)
        print(f"{domain:9}{len(own):>10}{len(spoken):>12}{len(measurable):>12}{len(hits):>15}{length:>12}")
    for row, text in [pair for pair in zip(rows, contexts, strict=True) if pair[1]][:show]:
        print(f"\n{row['query']} -> {row['answer']}\n{text}")


def contexts_of(data: ShippedPublicData, rows: Sequence[dict[str, Any]], *, domain_is_known: bool) -> list[str]:
    """The facts of each question as one text."""
    texts: list[str] = []
    for start in range(0, len(rows), BATCH):
        part = [{**row, "search_results": []} for row in rows[start : start + BATCH]]
        queries = parse_batch({key: [row[key] for row in part] for key in BATCH_KEYS})
        domains = [str(row["domain"]) if domain_is_known else None for row in part]
        texts += ["\n".join(fact.text for fact in facts) for facts in data.facts(queries, domains, Deadline(30.0))]
    return texts


def _measurable(row: dict[str, Any]) -> bool:
    return is_measurable(row["question_type"], row["query"], gold(row))


def gold(row: dict[str, Any]) -> list[str]:
    """The accepted answers."""
    return [str(row["answer"]), *map(str, row.get("alt_ans") or [])]


if __name__ == "__main__":
    sys.exit(main())
