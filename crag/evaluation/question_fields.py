"""The fields of a question row: checked, cleaned, and in one form for all releases of CRAG."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from crag.core.files import Record, field_fault, shorten_repr
from crag.core.queries import TIME_FORMS, normalise_query_time
from crag.core.text import clean, encodable

PAGE_FIELDS = ("page_name", "page_url", "page_snippet", "page_result", "page_last_modified")
"""The fields of a search result in the evaluator's batches."""

LABEL_FIELDS = ("domain", "question_type", "static_or_dynamic")
"""Labels of public rows, which agents never see."""
_STRING_FIELDS = ("query", "interaction_id", "query_time", "answer", *LABEL_FIELDS)
_Type = TypeVar("_Type")


def normalise_row(record: Record, folder: Path) -> dict[str, Any]:
    """A question in the form of `crag.evaluation.datasets.read_rows`; its pages may be files inside `folder`.

    Raises DatasetError: a field has another type, the query is missing, or a page cannot be read.
    """
    place = record.place
    row = dict(with_query_time(record).data)
    question_of(record)  # no agent can answer an empty one
    for name in _STRING_FIELDS:
        if row.get(name) is None:
            row.pop(name, None)
        else:
            row[name] = clean(_expect(place, name, row.get(name), str, "a string"))

    # "questions.jsonl, line 7" becomes "line 7"
    row.setdefault("interaction_id", place.rpartition(", ")[2])
    row["alt_ans"] = alternative_answers(record)
    # Both spellings are read into `alt_ans`
    row.pop("alternative_answers", None)

    if row.get("search_results") is None:
        row.pop("search_results", None)
    else:
        entries = _expect(place, "search_results", row["search_results"], list, "a list")
        row["search_results"] = [
            _normalise_result(place, f"search_results[{index}]", entry, folder) for index, entry in enumerate(entries)
        ]
    return row


def _expect(
    place: str,
    field: str,
    value: object,
    expected_type: type[_Type],
    description: str,
) -> _Type:
    """The value, if it has the expected type; otherwise raises DatasetError with place and field."""
    if not isinstance(value, expected_type):
        fault = "missing or null" if value is None else f"expected {description}, found {shorten_repr(value)}"
        raise field_fault(place, field, fault)
    return value


def question_of(record: Record) -> str:
    """The record's `query` as it is written. Raises DatasetError: it is missing, no string, or has no visible sign."""
    value = record.data.get("query")
    if value is None:
        names = ", ".join(record.data) or "no field"
        raise record.fault("query", f"missing or null; the row has {names}")

    question = _expect(record.place, "query", value, str, "a string")
    if not clean(question).strip():
        raise record.fault("query", f"expected a question, found {shorten_repr(question)}")
    return question


def with_query_time(record: Record) -> Record:
    """The record with its `query_time`, if it has one, in CRAG's form.
    Raises DatasetError: it is a string, but no time of `crag.core.queries.TIME_FORMS`.
    """
    text = record.data.get("query_time")
    if not isinstance(text, str) or not text.strip():
        return record

    normalised = normalise_query_time(clean(text))
    if normalised is None:
        raise record.fault("query_time", f"{shorten_repr(text)} is not a time such as {TIME_FORMS}")
    return record._replace(data={**record.data, "query_time": normalised})


def alternative_answers(record: Record) -> list[str]:
    """Alternative answers from either field, given as a list, as its JSON text, or as null.

    Some public rows have a number instead of a string; it becomes a string.
    Raises DatasetError: the field has another type.
    """
    name = "alt_ans" if "alt_ans" in record.data else "alternative_answers"
    value = record.data.get(name) or []
    answers = value
    if isinstance(value, str):
        # No JSON: `answers` stays a string and is refused below, with the value as it was.
        with suppress(ValueError, RecursionError):
            answers = json.loads(value.strip() or "[]")

    is_valid = isinstance(answers, list) and all(isinstance(answer, str | int | float) for answer in answers)
    if not is_valid:
        raise record.fault(name, f"expected a list of strings, found {shorten_repr(value)}")
    return [clean(str(answer)) for answer in answers]


def _normalise_result(
    place: str,
    field: str,
    value: object,
    folder: Path,
) -> dict[str, Any]:
    result = dict(_expect(place, field, value, dict, "a JSON object"))
    if "page_result_file" in result:
        file_name = result.pop("page_result_file")
        result["page_result"] = _read_page(place, f"{field}.page_result_file", file_name, folder)

    for name in PAGE_FIELDS:
        value = result.get(name)
        text = "" if value is None else _expect(place, f"{field}.{name}", value, str, "a string")
        # Cleaning 50 pages of markup takes seconds; the processes that read pages do it.
        result[name] = encodable(text) if name == "page_result" else clean(text)
    return result


def _read_page(place: str, field: str, value: object, folder: Path) -> str:
    """The page in a file inside the question file's folder; raises DatasetError."""
    name = _expect(place, field, value, str, "a relative path")
    root = folder.resolve()

    try:
        # Resolved first, so that neither ".." nor a link can lead out of the folder
        page = (root / name).resolve()
        if not page.is_relative_to(root):
            fault = "leaves the folder of the question file"
        elif page.exists() and not page.is_file():  # reading a pipe would never end
            fault = "cannot be read: it is not a file"
        else:
            return page.read_text(encoding="utf-8")
    except OSError as error:
        fault = f"cannot be read: {error.strerror}"
    except (ValueError, RuntimeError) as error:  # no UTF-8, or a null byte in the name; a loop of links
        fault = f"cannot be read: {error}"
    raise field_fault(place, field, f"{name!r} {fault}")
