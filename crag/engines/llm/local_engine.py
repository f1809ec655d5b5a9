"""What in-process engines share: weights folders, tokenizer, and checks before a request runs."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from crag.core.deadline import Deadline
from crag.core.places import REPOSITORY
from crag.engines.llm.base import Generation, GenerationRequest, refuse_unknown_adapter
from crag.engines.llm.chat_template import read_config
from crag.engines.llm.tokenizer import ChatTokenizer, PromptError
from crag.settings import OpenvinoEngine, TransformersEngine, VllmEngine
from crag.weights.adapter_files import ADAPTER_CONFIG, ADAPTER_WEIGHTS, Adapter, AdapterError, matrix_shapes
from crag.weights.manifest import WeightsMissingError, load_manifest, locate

if TYPE_CHECKING:
    from llguidance import LLTokenizer

    from crag.engines.llm.grammar import GrammarMatcher

_MODEL_ADVICE = "give a folder that has it, or fetch a model of crag/weights/manifest.toml: crag models fetch NAME"
ADAPTER_ADVICE = (
    "crag train adapters trains adapters (docs/training.md), --set tuned=false runs without them; or give "
    "a folder that has it, or fetch a model of crag/weights/manifest.toml: crag models fetch NAME"
)

_MAX_GRAMMARS = 8
"""Grammars that are kept ready: a tuned writer has one for each domain, and one for all."""

EngineSettings = TypeVar("EngineSettings", bound=OpenvinoEngine | TransformersEngine | VllmEngine)


class TokenizedRequest(NamedTuple):
    """A valid request: its position in the caller's list and its prompt's token ids."""

    request_index: int
    request: GenerationRequest
    prompt: list[int]


class LocalEngine(ABC, Generic[EngineSettings]):
    """Checks and tokenizes requests before the engine answers them; an engine adds `warm_up`, `close` and `_answer`."""

    def __init__(self, settings: EngineSettings) -> None:
        self._settings: EngineSettings = settings
        self._grammar_starts: dict[str, GrammarMatcher] = {}

    @cached_property
    def _tokenizer(self) -> ChatTokenizer:
        return ChatTokenizer(model_folder(self._settings.model))

    @cached_property
    def _config(self) -> dict[str, Any]:
        folder = model_folder(self._settings.model)
        # The second file wins, as it may list more end tokens.
        return read_config(folder, "config.json") | read_config(folder, "generation_config.json")

    @cached_property
    def _end_tokens(self) -> frozenset[int]:
        """Ids of the tokens that end a text, by the model's configuration and by its tokenizer."""
        configured = self._config.get("eos_token_id")
        tokens = configured if isinstance(configured, list) else [configured]
        return frozenset({*tokens, self._tokenizer.end_token} - {None})

    @cached_property
    def _grammar_tokenizer(self) -> "LLTokenizer":
        """The tokenizer that all grammars share; building it takes a second."""
        from crag.engines.llm.grammar import build_grammar_tokenizer

        backend = self._tokenizer.backend.to_str()
        return build_grammar_tokenizer(backend, self._config["vocab_size"], self._end_tokens, self._tokenizer.end_token)

    def _match_grammar(self, grammar: str) -> "GrammarMatcher":
        """The start of a text in a grammar. Raises GrammarError: the grammar is invalid."""
        from crag.engines.llm.grammar import GrammarMatcher

        if grammar not in self._grammar_starts:
            if len(self._grammar_starts) == _MAX_GRAMMARS:
                self._grammar_starts.clear()
            self._grammar_starts[grammar] = GrammarMatcher(self._grammar_tokenizer, grammar)
        return self._grammar_starts[grammar].copy()

    @property
    def _window(self) -> int:
        """Maximum number of tokens of a prompt and its answer together."""
        return self._settings.max_model_tokens

    def check_weights(self) -> None:
        """Raise `WeightsMissingError` if a file of the base model or an adapter is missing."""
        check_folders(self._settings.model, self._settings.adapters)

    def count_tokens(self, text: str) -> int:
        """Number of tokens of plain text."""
        return self._tokenizer.count(text)

    def truncate(self, text: str, max_tokens: int) -> str:
        """The longest prefix with at most `max_tokens` tokens."""
        return self._tokenizer.truncate(text, max_tokens)

    @abstractmethod
    def warm_up(self) -> None:
        """See `LanguageModel.warm_up`."""

    @abstractmethod
    def _answer(
        self,
        requests: Sequence[TokenizedRequest],
        generations: dict[int, Generation],
        deadline: Deadline,
    ) -> None:
        """Fill `generations` by index; a request without one counts as cut off by the deadline."""

    def generate(self, requests: Sequence[GenerationRequest], deadline: Deadline) -> list[Generation]:
        """Answer all requests; see `LanguageModel.generate`.

        Raises LanguageModelDiedError: only a new process can recover the engine.
        """
        generations: dict[int, Generation] = {}
        if not deadline.expired:
            self.warm_up()

            tokenized: list[TokenizedRequest] = []
            for index, request in enumerate(requests):
                prompt = self._tokenize(request)
                if isinstance(prompt, Generation):
                    generations[index] = prompt
                else:
                    tokenized.append(TokenizedRequest(index, request, prompt))

            self._answer(tokenized, generations, deadline)
        return [generations.get(index, Generation.out_of_time()) for index in range(len(requests))]

    def _tokenize(self, request: GenerationRequest) -> list[int] | Generation:
        """Token ids of the prompt, or a failed generation if the request cannot run."""
        refused = refuse_unknown_adapter(request, self._settings.adapters)
        if refused is not None:
            return refused

        try:
            prompt = self._tokenizer.prompt_tokens(request)
        except PromptError as error:
            return Generation.failed(str(error))

        if not prompt:
            return Generation.failed("the prompt is empty")
        # At least one token must be left for the answer.
        if len(prompt) >= self._window:
            return Generation.failed(
                f"the prompt has {len(prompt)} tokens, but prompt and answer together may have {self._window}"
            )
        return prompt


def model_folder(name: str) -> Path:
    """The folder of a model: by name, by path, or from the hub's cache; see `locate`.

    Raises WeightsMissingError: a file is missing, or there is no such model.
    """
    folder = locate(name)
    _require_files(folder, ["config.json"], _MODEL_ADVICE)
    return folder


def adapter_folder(name: str) -> Path:
    """The folder of a LoRA adapter: of the manifest, or a path relative to the repository.

    Only safetensors count: pickled weights can run code.
    Raises WeightsMissingError: the folder or a file of the adapter is missing.
    """
    folder = locate(name) if name in load_manifest().models else REPOSITORY / name
    _require_files(folder, [ADAPTER_CONFIG, ADAPTER_WEIGHTS], ADAPTER_ADVICE)
    return folder


def _require_files(folder: Path, names: Sequence[str], advice: str) -> None:
    for name in names:
        if not (folder / name).is_file():
            raise WeightsMissingError(f"{folder / name} is missing: {advice}")


def check_folders(model: str, adapters: Mapping[str, str]) -> None:
    """Check a base model and its adapters (name -> location) without loading the model.

    Raises WeightsMissingError: a file is missing or damaged, or an adapter was tuned for another model.
    """
    config = read_config(model_folder(model), "config.json")
    for name, location in adapters.items():
        adapter = Adapter(adapter_folder(location))
        try:
            adapter.check_numbers()
            _require_base(name, adapter.config.base, model)
            adapter.check_features()
            shapes = matrix_shapes(config)
            if shapes is not None and adapter.feature_beyond_lora is None:
                adapter.check_fit(shapes)
        except AdapterError as error:
            raise _unusable(name, error) from None


def _unusable(adapter: str, fault: AdapterError) -> WeightsMissingError:
    return WeightsMissingError(f"the adapter {adapter} cannot be used: {fault}: {ADAPTER_ADVICE}")


def require_plain(engine: str, adapters: Mapping[str, str]) -> None:
    """Raise WeightsMissingError if an adapter is more than low-rank products, which this engine does not compute."""
    for name, location in adapters.items():
        try:
            feature = Adapter(adapter_folder(location)).feature_beyond_lora
        except AdapterError as error:
            raise _unusable(name, error) from None
        if feature is not None:
            raise WeightsMissingError(
                f'{feature}, which engine "{engine}" does not compute: tune the adapter {name} without it, '
                'or run engine = "transformers"'
            )


def _require_base(name: str, base: str | None, model: str) -> None:
    """Raise WeightsMissingError if an adapter names another base than the engine's model."""
    canonical_base = _canonical_name(base) if base is not None else None
    if canonical_base is not None and canonical_base != _canonical_name(model):
        raise WeightsMissingError(
            f"the adapter {name} was tuned for {base}, and the engine runs {model}: tuned = false runs without "
            "adapters; or give language_model.adapters one of this model"
        )


def _canonical_name(model: str) -> str | None:
    """One name for a model given by manifest, hub or folder; None if unknown."""
    entries = load_manifest().models
    name_by_repository = {entry.hub.repository: name for name, entry in entries.items() if entry.hub is not None}
    name = name_by_repository.get(model, model)
    if name in entries:
        return name

    folder = (REPOSITORY / name).resolve()
    if not folder.is_dir():
        return None
    return folder.name if folder.name in entries else str(folder)
