"""Makes claims, right and wrong, to train the verifier: `python -m training.verifier --out claims.jsonl`.

`wrong_programs` changes programs of `training.api_pairs`, `graph_claims` runs them, `reading_claims` takes right and
wrong answers from reading sets. `training.router --config verifier` trains on the file.
"""

from training.verifier.reading_claims import READING, ReadingRow, is_held_out

__all__ = ["READING", "ReadingRow", "is_held_out"]
