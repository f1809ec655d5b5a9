"""All settings of one system, and what must hold between its parts."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field, model_validator

from crag.core.contracts import ANSWERABLE_FROM
from crag.settings.answering import AnsweringSettings, ClassGate
from crag.settings.base import StrictModel
from crag.settings.deadline import DeadlineSettings
from crag.settings.engines import CrossEncoderSettings, DenseEncoderSettings, LanguageModelSettings
from crag.settings.facts import PublicDataSettings
from crag.settings.graph import KnowledgeGraphSettings
from crag.settings.router import RouterSettings
from crag.settings.web import WebSettings
from crag.weights.needed import needs_gpu

_ADAPTER_KEYS = (
    "answering.adapter",
    "router.adapter",
    "knowledge_graph.writer.adapter",
    "knowledge_graph.answer_adapter",
)
"""Keys that name one of the engine's adapters."""
_GRAPH = "knowledge_graph."
"""Beginning of the keys whose adapters are for the graph."""

_PARTS_WITH_DEVICE = ("language_model", "dense_encoder", "cross_encoder", "router")
"""Parts that may run on a GPU."""


class Settings(StrictModel):
    """All settings of one system; `load_settings` reads them from a preset."""

    name: str = ""
    description: str
    batch_size: Annotated[int, Field(ge=1, le=16)] = 16

    # The models.
    language_model: LanguageModelSettings
    tuned: bool = True
    """False: use the base model without adapters, with the keys of `untuned`."""
    untuned: dict[str, Any] = Field(default_factory=dict)
    """Tables that replace the preset's if it is not tuned: the prompts and the abstention of a base model."""
    device: str | None = None
    """The device of all parts for which the preset names one: ``cuda:0`` one GPU, ``cpu`` the CPU, in float32."""
    dense_encoder: DenseEncoderSettings | None = None
    cross_encoder: CrossEncoderSettings | None = None

    # The sources of an answer.
    router: RouterSettings | None = None
    """None: questions are not classified."""
    web: WebSettings
    knowledge_graph: KnowledgeGraphSettings | None = None
    """None: the graph is not used, even if the evaluator offers one."""
    public_data: PublicDataSettings | None = None
    """None: no shipped facts (tasks 2 and 3 of db3)."""

    answering: AnsweringSettings = AnsweringSettings()
    deadline: DeadlineSettings = DeadlineSettings()

    @property
    def graph_answering(self) -> AnsweringSettings:
        """The settings for answers from the graph's facts: `answering` with the graph's prompt and adapter."""
        graph = self.knowledge_graph or KnowledgeGraphSettings()
        changes = {"prompt": graph.answer_prompt, "own_prompt": None, "adapter": graph.answer_adapter}
        return self.answering.model_copy(update=changes)

    @property
    def needs_gpu(self) -> bool:
        """Whether the preset needs a GPU."""
        return needs_gpu(self.model_dump())

    @property
    def adapters_used(self) -> dict[str, str | None]:
        """Key -> the adapter that it names, for every stage that uses the language model."""
        adapters: dict[str, str | None] = {}
        for key in _ADAPTER_KEYS:
            value: Any = self
            for name in key.split("."):
                value = getattr(value, name, None)
            adapters[key] = value
        return adapters

    def engine(self, *, has_graph: bool) -> LanguageModelSettings:
        """The language model to load: without a graph, it lacks the adapters that only the graph uses."""
        model = self.language_model
        if has_graph:
            return model

        used = self.adapters_used.items()
        used_elsewhere = {adapter for key, adapter in used if not key.startswith(_GRAPH)}
        idle = {adapter for key, adapter in used if key.startswith(_GRAPH)} - used_elsewhere
        adapters = {name: path for name, path in model.adapters.items() if name not in idle}
        return model.model_copy(update={"adapters": adapters})

    # --- before validation: what `tuned` and `device` change ---------------------------------------------------------

    @model_validator(mode="before")
    @classmethod
    def _apply_tuned_and_device(cls, data: object) -> object:
        if not isinstance(data, Mapping):
            return data
        tables: Mapping[str, Any] = data

        # The adapters go with every key that names one, so that the base model does all the work.
        if tables.get("tuned") is False:
            for key in ("language_model.adapters", *_ADAPTER_KEYS):
                tables = _without_key(tables, key.split("."))

        device = tables.get("device")
        if isinstance(device, str):
            changed_parts = {key: _with_device(tables[key], device) for key in _PARTS_WITH_DEVICE if key in tables}
            tables = {**tables, **changed_parts}
        return tables

    # --- after validation: parts that need each other ----------------------------------------------------------------

    @model_validator(mode="after")
    def _has_the_encoders_it_uses(self) -> "Settings":
        web = self.web
        links = self.public_data.links.values() if self.public_data else ()
        if self.dense_encoder is None:
            if any(stage.method != "bm25" for stage in web.retrieve):
                raise ValueError("dense_encoder is missing, but web.retrieve uses it")
            if web.chunk.method == "tokens":
                raise ValueError("dense_encoder is missing, but web.chunk counts tokens with it")
            if any(link.level == "similarity" for link in links):
                raise ValueError("dense_encoder is missing, but a level of public_data.links is similarity")

        if self.cross_encoder is None and (web.rerank or web.pages.method == "cross_encoder"):
            raise ValueError("cross_encoder is missing, but web.rerank or web.pages uses it")
        return self

    @model_validator(mode="after")
    def _has_the_adapters_it_uses(self) -> "Settings":
        for key, adapter in self.adapters_used.items():
            if adapter is not None and adapter not in self.language_model.adapters:
                raise ValueError(
                    f"{key} {adapter!r} is not among language_model.adapters; tuned = false runs without adapters"
                )
        return self

    @model_validator(mode="after")
    def _gates_can_compare(self) -> "Settings":
        for gate in self.answering.gates:
            if isinstance(gate, ClassGate):
                self._require_route_field(gate.field, f"the gate {gate.name!r} compares it")
                if gate.above is not None and self.router is not None and self.router.engine == "prompt":
                    raise ValueError(
                        f"the gate {gate.name!r} has the key above, but a router with a prompt gives no probabilities"
                    )
            elif self.web.rerank is None:
                raise ValueError(
                    "a gate on top_passage needs web.rerank, whose score it compares; answering.gates=[] removes gates"
                )
        return self

    @model_validator(mode="after")
    def _sources_know_the_question(self) -> "Settings":
        if self.answering.hints:
            self._require_route_field("domain", "answering.hints go by it")
        if self.public_data is not None and self.public_data.method == "prompt":
            self._require_route_field("domain", "public_data.method is prompt")
        return self

    @model_validator(mode="after")
    def _the_graph_has_what_it_uses(self) -> "Settings":
        graph = self.knowledge_graph
        if graph is None:
            return self

        if graph.source_policy == "synthesis":
            self._require_route_field("static_or_dynamic", "knowledge_graph.source_policy is synthesis")
        if graph.answer_prompt == "assessed" and self.answering.self_assessment is None:
            raise ValueError("knowledge_graph.answer_prompt assessed needs answering.self_assessment")
        if graph.answer_prompt == "reasoned" and graph.answer_adapter:
            raise ValueError(
                "knowledge_graph.answer_prompt reasoned is for a model without an adapter: tuned = false runs without"
            )
        if graph.articles == "pages" and not self.web.after_graph:
            raise ValueError("knowledge_graph.articles pages needs web.after_graph = true: the graph finds them first")
        if graph.ask_above is not None:
            self._require_route_field(ANSWERABLE_FROM, "knowledge_graph.ask_above goes by it")
        return self

    def _require_route_field(self, field: str, reason: str) -> None:
        """Raise ValueError if the router cannot give a field of routes.

        The folders of trained classifiers name their fields; `crag.router` checks them.
        """
        if self.router is None:
            raise ValueError(f"router is missing, but {reason}, which needs a router that gives {field}")
        if self.router.engine == "prompt" and field not in self.router.fields:
            fields = " and ".join(self.router.fields)
            raise ValueError(f"router.prompt {self.router.prompt} gives {fields}, not {field}, but {reason}")


def _without_key(tables: Mapping[str, Any], key: Sequence[str]) -> dict[str, Any]:
    """The preset's tables without one key, given as its parts; the tables themselves stay unchanged."""
    name, *rest = key
    if not rest:
        return {key: value for key, value in tables.items() if key != name}

    inner = tables.get(name)
    if not isinstance(inner, Mapping):
        return dict(tables)
    return {**tables, name: _without_key(inner, rest)}


def _with_device(part: object, device: str) -> object:
    """A part's table with another device, if it names one; on a CPU in float32."""
    if not isinstance(part, Mapping) or "device" not in part:
        return part

    changed = {**part, "device": device}
    if device == "cpu" and "dtype" in part:
        changed["dtype"] = "float32"
    return changed
