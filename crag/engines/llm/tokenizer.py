"""Converts text to tokens and back with a model's own tokenizer, and chats to text with its template."""

import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Template

from crag.core.text import encodable, without_control_tokens
from crag.engines.llm.base import GenerationRequest, Message
from crag.engines.llm.chat_template import (
    TEMPLATE_FAULTS,
    compile_template,
    read_config,
    read_named_tokens,
    read_template_source,
    render_chat,
)

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer


_EARLIER_TURNS = (Message("user", "1"), Message("assistant", "2"))
"""A chat before the turns that are wanted; the contents do not matter."""


class PromptError(ValueError):
    """A request cannot be tokenised: the model has no chat template, or the template refuses the messages."""


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """Silence the transformers library on stdout and stderr; restore its settings afterwards."""
    from transformers.utils import logging

    verbosity = logging.get_verbosity()
    progress_bar_enabled = logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            yield
    finally:
        logging.set_verbosity(verbosity)
        if progress_bar_enabled:
            logging.enable_progress_bar()


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

        tokenizer = Tokenizer.from_file(str(self._folder / "tokenizer.json"))
        # `tokenizer.json` may switch both on, which would lengthen or cut prompts silently.
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return tokenizer

    @cached_property
    def _config(self) -> dict[str, Any]:
        return read_config(self._folder, "tokenizer_config.json")

    @cached_property
    def _named_tokens(self) -> dict[str, str]:
        return read_named_tokens(self._folder, self._config)

    @cached_property
    def end_token(self) -> int | None:
        """The id of the token that ends a text, if the tokenizer names one."""
        return self.backend.token_to_id(self._named_tokens.get("eos_token", ""))

    @cached_property
    def _special_tokens(self) -> re.Pattern[str] | None:
        """Matches any special token of the model; None: it has none."""
        added = self.backend.get_added_tokens_decoder().values()
        spellings = {token.content for token in added if token.special}
        spellings.update(self._named_tokens.values())
        spellings.discard("")
        if not spellings:
            return None

        # The longest first: of `<s>` and `<s>x` the pattern must find the whole `<s>x`.
        longest_first = sorted(spellings, key=len, reverse=True)
        return re.compile("|".join(map(re.escape, longest_first)))

    def prompt_tokens(self, request: GenerationRequest) -> list[int]:
        """Token ids of a whole prompt, with the beginning-of-text token if the model uses one. Raises PromptError."""
        return list(self._encode_prompt(request)[1].ids)

    def count_shared(self, request: GenerationRequest) -> int:
        """How many tokens at the beginning of the prompt its `shared_prefix` decides alone. Raises PromptError.

        What the template writes before it counts too; a token with parts of what follows does not.
        """
        shared = self._break_special_tokens(request.shared_prefix)
        text, encoding = self._encode_prompt(request)
        start = text.find(shared)
        if not shared or start < 0:  # a template may change a message, as when it strips blanks
            return 0
        inside = takewhile(lambda span: span[1] <= start + len(shared), encoding.offsets)
        return len(list(inside))

    def _encode_prompt(self, request: GenerationRequest) -> "tuple[str, Encoding]":
        """The prompt as text and as tokens."""
        if request.prompt is not None:
            text = self._break_special_tokens(request.prompt)
        else:
            render = self.render_exactly if request.exact_turns else self.render
            text = encodable(render(request.messages))
        # In a chat, the template writes the special tokens.
        return text, self.backend.encode(text, add_special_tokens=request.prompt is not None)

    @cached_property
    def _template(self) -> Template:
        source = read_template_source(self._folder, self._config)
        if not source:
            raise PromptError(
                f"the model in {self._folder} has no chat template: give a raw prompt instead of messages"
            )
        return compile_template(source)

    def render(self, messages: Sequence[Message]) -> str:
        """The chat in the model's template, up to the start of the assistant's turn. Raises PromptError."""
        return self._render(messages, add_generation_prompt=True)

    def render_exactly(self, messages: Sequence[Message]) -> str:
        """Like `render`, without a system turn that the template adds to chats that begin with another one.

        With Qwen's template, for the question "who wrote Dune?"::

            <|im_start|>user
            who wrote Dune?<|im_end|>
            <|im_start|>assistant

        Raises PromptError, also if the template's turns depend on each other.
        """
        plain = self.render(messages)
        if messages[0].role == "system":
            return plain
        begin = self._named_tokens.get("bos_token", "")

        # Templates write their system turn, and the token that begins a text, at the start of a chat. So the turns are
        # also rendered later in a chat.
        later = self._render([*_EARLIER_TURNS, *messages], add_generation_prompt=True)
        if later.endswith(plain.removeprefix(begin)):
            return plain

        earlier = self._render(_EARLIER_TURNS, add_generation_prompt=False)
        if not later.startswith(earlier):
            raise PromptError(f"the chat template in {self._folder} cannot be rendered without its system turn")
        # Llama 2's template begins each user's turn with that token.
        turns = later.removeprefix(earlier).removeprefix(begin)
        return begin + turns if plain.startswith(begin) else turns

    def _render(self, messages: Sequence[Message], *, add_generation_prompt: bool) -> str:
        turns = [{"role": turn.role, "content": self._break_special_tokens(turn.content)} for turn in messages]
        try:
            return render_chat(self._template, turns, self._named_tokens, add_generation_prompt=add_generation_prompt)
        except PromptError:
            raise
        except TEMPLATE_FAULTS as error:
            raise PromptError(f"the model's chat template refuses these messages: {error}") from error

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of generated tokens, without special tokens."""
        return self.backend.decode(list(tokens))

    def count(self, text: str) -> int:
        """Number of tokens of plain text, without special tokens."""
        return len(self._encode(text, add_special_tokens=False))

    def truncate(self, text: str, max_tokens: int) -> str:
        """The longest prefix that ends between two tokens and has at most `max_tokens` tokens."""
        text = encodable(text)
        if max_tokens <= 0:
            return ""

        offsets = self.backend.encode(text, add_special_tokens=False).offsets
        token_count = max_tokens
        # A prefix may split into more tokens than it had in the whole text, so check again.
        while len(offsets) > token_count:
            first_dropped, _ = offsets[token_count]
            prefix = text[:first_dropped]
            if self.count(prefix) <= max_tokens:
                return prefix
            token_count -= 1
        return text

    def _encode(self, text: str, *, add_special_tokens: bool) -> list[int]:
        return list(self.backend.encode(encodable(text), add_special_tokens=add_special_tokens).ids)

    def _break_special_tokens(self, content: str) -> str:
        return without_control_tokens(encodable(content), self._special_tokens)


_PIECE = re.compile(
    r"""
      (?P<word>[A-Z]?[a-z]+)       # "word" or "Word"; not "WORD", whose capitals are pieces of one letter each
    | (?P<space>\ (?=[A-Za-z]))    # the blank before a word, not before a digit or another blank
    | (?P<other>.)                 # any other character
    """,
    re.VERBOSE | re.DOTALL,
)


def bound_tokens(text: str) -> int:
    """An upper bound of a Llama tokenizer's token count for English text, usually 1.5 to 2.5 times too high.

    Each part is the worst case of these vocabularies: one token per digit, per capital in a run of capitals, per other
    ASCII character, per UTF-8 byte beyond ASCII, and per two letters of a word; a blank before a word belongs to its
    token. Cutting a context too early costs a little recall; exceeding the server's window costs the answer.
    """
    if not text:
        return 0
    first_token = 1  # Llama-2 puts one in front of a text that does not start with a space
    return first_token + sum(map(_bound_of_piece, _PIECE.finditer(text)))


def truncate_to_bound(text: str, max_tokens: int) -> str:
    """The longest prefix that ends between words or characters and has a bound of at most `max_tokens`."""
    if max_tokens <= 0:
        return ""

    bound = 1
    for piece in _PIECE.finditer(text):
        bound += _bound_of_piece(piece)
        if bound > max_tokens:
            prefix = text[: piece.start()]
            # A blank is free only as part of a word, and that word does not fit.
            return prefix.removesuffix(" ") if piece[0][0].isalpha() else prefix
    return text


def _bound_of_piece(piece: re.Match[str]) -> int:
    if piece["word"]:
        # Two letters a token, rounded up.
        return (len(piece["word"]) + 1) // 2
    if piece["space"]:
        return 0
    return len(piece["other"].encode("utf-8", "surrogatepass"))
