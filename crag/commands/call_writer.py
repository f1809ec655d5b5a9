"""The call writer of a preset, for commands that use it without the rest of the agent."""

from collections.abc import Sequence

from crag.engines.encoders import load_dense_encoder
from crag.engines.llm import load_language_model
from crag.graph.writing import CallWriter, Example
from crag.settings import KgWriterSettings, Settings


def load_call_writer(settings: Settings, bank: Sequence[Example] | None = None) -> CallWriter:
    """The preset's call writer, warm; `bank`: its examples, None: the shipped ones.

    Raises WeightsMissingError: before anything is loaded.
    """
    model = load_language_model(settings.language_model)
    model.check_weights()
    dense = load_dense_encoder(settings.dense_encoder) if settings.dense_encoder else None
    if dense is not None:
        dense.check_weights()

    graph = settings.knowledge_graph
    writer = CallWriter(graph.writer if graph else KgWriterSettings(), model, dense, bank)
    writer.warm_up()
    return writer
