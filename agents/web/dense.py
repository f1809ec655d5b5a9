"""Cosine similarity of questions and texts for a whole batch: every distinct text is encoded once, in one call."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from agents.deadline import Deadline
from agents.encoders.base import DenseEncoder
from agents.web.ranking import in_turns


def cosines(
    encoder: DenseEncoder, queries: Mapping[int, str], texts: Mapping[int, Sequence[str]], deadline: Deadline
) -> dict[int, NDArray[np.float32]]:
    """Cosine of each text with its owner's query; NaN where the deadline came first. Put promising texts first.

    A vector that is no number (a float16 overflow, for example) counts as unlike everything: -1.
    """
    distinct = list(dict.fromkeys(text for _, text in in_turns(texts)))
    if not distinct:
        return {owner: np.zeros(0, dtype=np.float32) for owner in texts}
    place = {text: row for row, text in enumerate(distinct)}
    owners = list(texts)
    query_vectors = dict(zip(owners, encoder.encode_queries([queries[owner] for owner in owners]), strict=True))
    vectors, encoded = encoder.encode_passages(distinct, deadline)
    found = {}
    for owner, own_texts in texts.items():
        rows = np.array([place[text] for text in own_texts], dtype=np.intp)
        similarity = np.nan_to_num(vectors[rows] @ query_vectors[owner], nan=-1.0)
        found[owner] = np.where(rows < encoded, similarity, np.nan).astype(np.float32)
    return found
