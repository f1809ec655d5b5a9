"""All settings of an agent."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field, model_validator

from agents.settings.answering import AnsweringSettings, DeadlineSettings
from agents.settings.base import StrictModel
from agents.settings.encoders import CrossEncoderSettings, DenseEncoderSettings
from agents.settings.engines import LanguageModelSettings
from agents.settings.knowledge_graph import KnowledgeGraphSettings
from agents.settings.public_data import PublicDataSettings
from agents.settings.questions import RouterSettings
from agents.settings.web import WebSettings


class Settings(StrictModel):
    """Everything that tells one system from another."""

    name: str = ""
    description: str
    batch_size: Annotated[int, Field(ge=1, le=16)] = 16
    language_model: LanguageModelSettings
    tuned: bool = True
    """False: no adapter is loaded nor asked for, whatever the preset names; the base model does all of the work."""
    device: str | None = None
    """Where all parts run that the preset gives a device: ``cuda:0`` puts them on one GPU, ``cpu`` on none, in float32.
    None: each where the preset says."""
    dense_encoder: DenseEncoderSettings | None = None
    cross_encoder: CrossEncoderSettings | None = None
    router: RouterSettings | None = None
    """None: nothing is known about a question but its text."""
    web: WebSettings
    knowledge_graph: KnowledgeGraphSettings | None = None
    """None: the graph is never asked, even where the evaluator offers one."""
    public_data: PublicDataSettings | None = None
    """None: no shipped facts (tasks 2 and 3 of db3)."""
    answering: AnsweringSettings = AnsweringSettings()
    deadline: DeadlineSettings = DeadlineSettings()

    @property
    def graph_answering(self) -> AnsweringSettings:
        """How answers from the graph's facts are asked for: as others, but with a prompt and adapter of their own."""
        graph = self.knowledge_graph or KnowledgeGraphSettings()
        return self.answering.model_copy(update={"prompt": graph.answer_prompt, "adapter": graph.answer_adapter})

    @model_validator(mode="before")
    @classmethod
    def _untuned_names_no_adapter(cls, data: object) -> object:
        if isinstance(data, Mapping) and data.get("tuned") is False:
            for place in ("language_model.adapters", *_ADAPTER_USERS):
                data = _without(data, place.split("."))
        return data

    @model_validator(mode="before")
    @classmethod
    def _all_on_one_device(cls, data: object) -> object:
        if not isinstance(data, Mapping) or not isinstance(device := data.get("device"), str):
            return data
        placed = {
            name: {
                **part,
                "device": device,
                **({"dtype": "float32"} if device == "cpu" and "dtype" in part else {}),
            }
            for name in ("language_model", "dense_encoder", "cross_encoder", "router")
            if isinstance(part := data.get(name), Mapping) and "device" in part
        }
        return {**data, **placed}

    @model_validator(mode="after")
    def _parts_that_are_used_exist(self) -> "Settings":
        dense_users = [stage.method for stage in self.web.retrieve if stage.method != "bm25"]
        if (dense_users or self.web.chunk.method == "tokens") and self.dense_encoder is None:
            raise ValueError("dense_encoder is missing, but web.retrieve or web.chunk uses it")
        if (self.web.rerank or self.web.pages.method == "cross_encoder") and self.cross_encoder is None:
            raise ValueError("cross_encoder is missing, but web.rerank or web.pages uses it")
        for key, adapter in self.adapters_used.items():
            if adapter is not None and adapter not in self.language_model.adapters:
                raise ValueError(f"{key} {adapter!r} is not among language_model.adapters")
        return self

    @property
    def needs_gpu(self) -> bool:
        """Whether the preset cannot run on a machine without GPU."""
        parts = (self.language_model, self.dense_encoder, self.cross_encoder, self.router)
        devices = [getattr(part, "device", "") for part in parts]
        return self.language_model.engine == "vllm" or any(device.startswith("cuda") for device in devices)

    @model_validator(mode="after")
    def _route_has_what_others_read(self) -> "Settings":
        for gate in self.answering.gates:
            if gate.gate == "score":
                if gate.score == "top_passage" and self.web.rerank is None:
                    raise ValueError("a gate on top_passage needs web.rerank, whose score it compares")
                continue
            self._check_route_field(gate.field, f"the gate {gate.name!r} compares it")
            if gate.above is not None and self.router is not None and self.router.engine == "prompt":
                raise ValueError(f"the gate {gate.name!r} has above, but a router with a prompt gives no probabilities")
        if self.public_data is not None and self.public_data.method == "prompt":
            self._check_route_field("domain", "public_data.method is prompt")
        policy = self.knowledge_graph.source_policy if self.knowledge_graph is not None else None
        if policy in {"by_dynamism", "synthesis"}:
            self._check_route_field("static_or_dynamic", f"knowledge_graph.source_policy is {policy}")
        return self

    def _check_route_field(self, field: str, user: str) -> None:
        """Which fields trained classifiers know stands in their folders; `agents.questions` looks there."""
        if self.router is None:
            raise ValueError(f"router is missing, but {user}, which takes a router that gives {field}")
        if self.router.engine == "prompt" and field not in self.router.fields:
            given = " and ".join(self.router.fields)
            raise ValueError(f"router.prompt {self.router.prompt} gives {given}, not {field}, but {user}")

    @model_validator(mode="after")
    def _assessment_of_the_graph_is_asked_for(self) -> "Settings":
        asked = self.answering.self_assessment is not None and self.answering.self_assessment.asked == "with_answer"
        if self.knowledge_graph is not None and self.knowledge_graph.answer_prompt == "assessed" and not asked:
            raise ValueError("knowledge_graph.answer_prompt assessed needs answering.self_assessment with the answer")
        return self

    @property
    def adapters_used(self) -> dict[str, str | None]:
        """Key -> the adapter that it names, for every stage of which a language model does the work."""
        used: dict[str, str | None] = {}
        for place in _ADAPTER_USERS:
            part: Any = self
            for name in place.split("."):
                part = getattr(part, name, None)
            used[place] = part
        return used

    @model_validator(mode="after")
    def _public_data_has_its_encoder(self) -> "Settings":
        links = self.public_data.links.values() if self.public_data else ()
        if any(link.level == "similarity" for link in links) and self.dense_encoder is None:
            raise ValueError("dense_encoder is missing, but a level of public_data.links is similarity")
        return self


_ADAPTER_USERS = (
    "answering.adapter", "answering.refine.adapter", "router.adapter", "knowledge_graph.writer.adapter",
    "knowledge_graph.answer_adapter",
)  # fmt: skip
"""Keys that name one of the engine's adapters."""


def _without(data: Mapping[str, Any], place: Sequence[str]) -> dict[str, Any]:
    """The tables of a preset without one key."""
    first, *rest = place
    if not rest:
        return {key: value for key, value in data.items() if key != first}
    inner = data.get(first)
    return {**data, first: _without(inner, rest)} if isinstance(inner, Mapping) else dict(data)
