"""Converts text to tokens and back with a model's own tokenizer, and chats to text with its template."""

import json
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from jinja2 import Template, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from crag.core.text import encodable, without_control_tokens
from crag.engines.llm.base import GenerationRequest, Message

if TYPE_CHECKING:
    from tokenizers import Tokenizer


class PromptError(ValueError):
    """A request cannot be tokenised: the model has no chat template, or the template refuses the messages."""


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """Silence the transformers library on stdout and stderr; restore its settings afterwards."""
    from transformers.utils import logging

    verbosity, progress = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            yield
    finally:
        logging.set_verbosity(verbosity)
        if progress:
            logging.enable_progress_bar()


def read_config(folder: Path, name: str) -> dict[str, Any]:
    """A JSON file of a model's folder; empty if there is none."""
    path = folder / name
    config: dict[str, Any] = json.loads(path.read_bytes()) if path.is_file() else {}
    return config


class ChatTokenizer:
    """The tokenizer in a model's folder, loaded on first use, without transformers.

    Text between the model's special tokens comes from web pages. A page that contains such a token (``<|im_end|>``)
    must not end its turn, so `prompt_tokens` breaks these tokens in messages and in raw prompts.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @cached_property
    def backend(self) -> "Tokenizer":
        """The tokenizer of `tokenizer.json`."""
        from tokenizers import Tokenizer

        loaded = Tokenizer.from_file(str(self._folder / "tokenizer.json"))
        loaded.no_padding()
        loaded.no_truncation()
        return loaded

    @cached_property
    def _config(self) -> dict[str, Any]:
        return read_config(self._folder, "tokenizer_config.json")

    @cached_property
    def _named_tokens(self) -> dict[str, str]:
        """The tokens that have a role: ``bos_token``, ``eos_token``, ``pad_token`` and the like."""
        values = {name: value for name, value in self._config.items() if name.endswith("_token")}
        spellings = {name: value["content"] if isinstance(value, dict) else value for name, value in values.items()}
        return {name: spelling for name, spelling in spellings.items() if isinstance(spelling, str)}

    @cached_property
    def end_token(self) -> int | None:
        """The id of the token that ends a text, if the tokenizer names one."""
        return self.backend.token_to_id(self._named_tokens.get("eos_token", ""))

    @cached_property
    def _special(self) -> re.Pattern[str] | None:
        added = self.backend.get_added_tokens_decoder().values()
        spellings = {token.content for token in added if token.special} | set(self._named_tokens.values())
        longest_first = sorted(filter(None, spellings), key=len, reverse=True)
        return re.compile("|".join(map(re.escape, longest_first))) if longest_first else None

    def prompt_tokens(self, request: GenerationRequest) -> list[int]:
        """Token ids of a whole prompt, with the beginning-of-text token if the model uses one. Raises PromptError."""
        if request.prompt is not None:
            return self._encode(self._without_special(request.prompt), special=True)
        return self._encode(self.render(request.messages), special=False)

    @cached_property
    def _template(self) -> Template:
        """The chat template, in the environment that transformers' documentation promises to it."""
        file, source = self._folder / "chat_template.jinja", self._config.get("chat_template")
        if file.is_file():
            source = file.read_text(encoding="utf-8")
        if isinstance(source, list):  # several templates by name
            source = {entry["name"]: entry["template"] for entry in source}.get("default")
        if not source:
            raise PromptError(
                f"the model in {self._folder} has no chat template: give a raw prompt instead of messages"
            )
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
        )
        environment.globals |= {"raise_exception": _refuse, "strftime_now": datetime.now().astimezone().strftime}
        return environment.from_string(source, globals=self._named_tokens)

    def render(self, messages: Sequence[Message]) -> str:
        """The chat in the model's template, up to the start of the assistant's turn."""
        turns = [{"role": message.role, "content": self._without_special(message.content)} for message in messages]
        try:
            return self._template.render(messages=turns, add_generation_prompt=True)
        except TemplateError as error:
            raise PromptError(f"the model's chat template refuses these messages: {error}") from error

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of generated tokens, without special tokens."""
        return self.backend.decode(list(tokens))

    def count(self, text: str) -> int:
        """Number of tokens of plain text, without special tokens."""
        return len(self._encode(text, special=False))

    def truncate(self, text: str, max_tokens: int) -> str:
        """The longest prefix that ends between two tokens and has at most `max_tokens` tokens."""
        text = encodable(text)
        if max_tokens <= 0:
            return ""
        offsets = self.backend.encode(text, add_special_tokens=False).offsets
        keep = max_tokens
        # A prefix may split into more tokens than it had in the whole text, so check again.
        while len(offsets) > keep:
            beginning = text[: offsets[keep][0]]
            if self.count(beginning) <= max_tokens:
                return beginning
            keep -= 1
        return text

    def _encode(self, text: str, *, special: bool) -> list[int]:
        return list(self.backend.encode(encodable(text), add_special_tokens=special).ids)

    def _without_special(self, content: str) -> str:
        return without_control_tokens(encodable(content), self._special)


def _refuse(message: str) -> NoReturn:
    raise TemplateError(message)


_PIECE = re.compile(r"(?P<word>[A-Z]?[a-z]+)|(?P<space> (?=[A-Za-z]))|(?P<other>.)", re.DOTALL)


def bound_tokens(text: str) -> int:
    """An upper bound of a Llama tokenizer's token count for English text, usually 1.5 to 2.5 times too high.

    Each part is the worst case of these vocabularies: one token per digit, per capital in a run of capitals, per other
    ASCII character, per UTF-8 byte beyond ASCII, and per two letters of a word; a blank before a word belongs to its
    token. Cutting a context too early costs a little recall; exceeding the server's window costs the answer.
    """
    # One more for Llama-2's token in front of a text that does not start with a space.
    return sum(map(_cost, _PIECE.finditer(text))) + bool(text)


def truncate_to_bound(text: str, max_tokens: int) -> str:
    """The longest prefix that ends between words or characters and has a bound of at most `max_tokens`."""
    spent = 1
    for piece in _PIECE.finditer(text):
        spent += _cost(piece)
        if spent > max_tokens:
            # A blank is free only as part of a word, and that word does not fit.
            beginning = text[: piece.start()]
            return beginning.removesuffix(" ") if piece[0][0].isalpha() else beginning
    return text if max_tokens > 0 else ""


def _cost(piece: re.Match[str]) -> int:
    if piece["word"]:
        return (len(piece["word"]) + 1) // 2
    if piece["space"]:
        return 0
    return len(piece["other"].encode("utf-8", "surrogatepass"))
