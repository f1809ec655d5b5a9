"""The rows that `crag judge` reads: claims, verdicts that a row already has, and corrections by a person."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from crag.core.csv_files import misspelt_names
from crag.core.files import DatasetError, Record, shorten_repr
from crag.evaluation.datasets import CORRECTIONS, GOLD_FIELDS, read_records
from crag.evaluation.judge import Claim, Verdict
from crag.evaluation.question_fields import alternative_answers

DEFAULT_REFERENCE = "judgement"


def claim_of(record: Record) -> Claim:
    """The claim in this row, without gold answers if none is known (null or blank); raises DatasetError."""
    row = record.data
    query = _read_string(record, "query")
    prediction = _read_string(record, "prediction")
    if not any(field in row for field in GOLD_FIELDS):
        raise _string_fault(record, "answer", "ground_truth or answer")

    # A blank ground truth leaves the official answer to the other field. Both are checked, even if one is enough.
    official: list[str] = []
    for field in GOLD_FIELDS:
        if row.get(field) is None:
            continue
        gold = _read_string(record, field)
        if gold.strip() and not official:
            official.append(gold)

    alternatives = [answer for answer in alternative_answers(record) if answer.strip()]
    return Claim(query, (*official, *alternatives), prediction)


def _read_string(record: Record, field: str) -> str:
    value = record.data.get(field)
    if not isinstance(value, str):
        raise _string_fault(record, field, field)
    return value


def _string_fault(record: Record, field: str, title: str) -> DatasetError:
    """The error of a field that is no string, perhaps because its name is misspelt."""
    misspelt = misspelt_names(record.data, [field])
    hint = "".join(f'; did you mean it by "{name}"?' for name in misspelt)
    value = record.data.get(field)
    found = "nothing" if value is None else shorten_repr(value)
    return record.fault(title, f"expected text, found {found}{hint}")


class Correction(NamedTuple):
    """A person's verdict about a row."""

    verdict: str
    note: str


def read_corrections(path: Path, records: Sequence[Record]) -> dict[int, Correction]:
    """The corrections by the index of the row that they are about; raises DatasetError."""
    # The same question may occur several times in a run
    indices: dict[tuple[object, object], int] = {}
    for index, record in enumerate(records):
        key = (record.data.get("interaction_id"), record.data.get("occurrence", 0))
        indices[key] = index

    corrections: dict[int, Correction] = {}
    for place, row in read_records(path, form=CORRECTIONS):
        if row.get("verdict") not in set(Verdict):
            allowed = ", ".join(Verdict)
            raise DatasetError(f'{place}, field "verdict": expected one of {allowed}')

        interaction_id = str(row.get("interaction_id"))
        key = (interaction_id, row.get("occurrence", 0))
        if key not in indices:
            raise DatasetError(f'{place}, field "interaction_id": no row of the judged file is {interaction_id}')

        note = str(row.get("note") or "")
        corrections[indices[key]] = Correction(row["verdict"], note)
    return corrections


def read_reference(record: Record, against: str | None) -> str | None:
    """The verdict that the row has, if any; true and false mean correct and incorrect."""
    field = against or DEFAULT_REFERENCE
    value = record.data.get(field)
    if value is None:
        if against is not None:
            raise DatasetError(f'{record.place}, field "{field}": --against needs it in every row')
        return None

    verdict = str(value).strip().lower()
    # A bool's text would be "true", which is not a verdict
    if isinstance(value, bool):
        verdict = "correct" if value else "incorrect"
    if verdict not in set(Verdict):
        allowed = ", ".join(Verdict)
        raise DatasetError(
            f'{record.place}, field "{field}": expected true, false or one of {allowed}, found {value!r}'
        )
    return verdict
