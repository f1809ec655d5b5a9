"""Text to tokens and back with a model's own tokenizer, and chats to text with its own template."""

import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from agents.llm.base import EngineUnavailableError, GenerationRequest, Message
from agents.text import encodable

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast


class PromptError(ValueError):
    """A request cannot be turned into tokens: the model has no chat template, or its template refuses the messages."""


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """Keep the transformers library from writing to stdout and stderr, and leave its settings as they were."""
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


class ChatTokenizer:
    """The tokenizer in a model's folder, loaded on first use.

    Text between the model's special tokens comes from web pages. A page that spells such a token out
    (``<|im_end|>``) must not end the turn it stands in, so `prompt_tokens` breaks those spellings in message contents.
    Raw prompts are taken as they are.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @cached_property
    def huggingface(self) -> "PreTrainedTokenizerFast":
        """The `transformers` tokenizer."""
        try:
            from transformers import AutoTokenizer
        except ImportError as error:
            raise EngineUnavailableError(f"{error}; install requirements-cpu.txt or requirements.txt") from error
        with quiet_transformers():
            return AutoTokenizer.from_pretrained(str(self._folder), local_files_only=True)

    @cached_property
    def _special(self) -> re.Pattern[str] | None:
        added = self.huggingface.added_tokens_decoder.values()
        spellings = {token.content for token in added if token.special} | set(self.huggingface.all_special_tokens)
        longest_first = sorted(filter(None, spellings), key=len, reverse=True)
        return re.compile("|".join(map(re.escape, longest_first))) if longest_first else None

    def prompt_tokens(self, request: GenerationRequest) -> list[int]:
        """Token ids of a whole prompt, beginning-of-text token included where the model wants one.
        Raises PromptError: see there.
        """
        if request.prompt is not None:
            return self._encode(request.prompt, special=True)
        return self._encode(self.render(request.messages), special=False)

    def render(self, messages: Sequence[Message]) -> str:
        """The chat as the model's template writes it, up to where the assistant begins to speak."""
        from jinja2 import TemplateError

        if not self.huggingface.chat_template:
            raise PromptError(
                f"the model in {self._folder} has no chat template: give a raw prompt instead of messages"
            )
        turns = [{"role": message.role, "content": self._without_special(message.content)} for message in messages]
        try:
            rendered = self.huggingface.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
        except TemplateError as error:
            raise PromptError(f"the model's chat template refuses these messages: {error}") from error
        return str(rendered)

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of generated tokens, special tokens left out."""
        text = self.huggingface.decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        return str(text)

    def count(self, text: str) -> int:
        """Number of tokens of plain text, without special tokens around it."""
        return len(self._encode(text, special=False))

    def truncate(self, text: str, max_tokens: int) -> str:
        """The longest beginning that ends between two tokens and has at most `max_tokens` tokens."""
        text = encodable(text)
        if max_tokens <= 0:
            return ""
        offsets = self.huggingface.backend_tokenizer.encode(text, add_special_tokens=False).offsets
        keep = max_tokens
        # A beginning may split into more tokens than it had as part of the whole, hence the second look.
        while len(offsets) > keep:
            beginning = text[: offsets[keep][0]]
            if self.count(beginning) <= max_tokens:
                return beginning
            keep -= 1
        return text

    def _encode(self, text: str, *, special: bool) -> list[int]:
        # The backend knows no model_max_length, about which the outer tokenizer would print a warning.
        encoding = self.huggingface.backend_tokenizer.encode(encodable(text), add_special_tokens=special)
        return list(encoding.ids)

    def _without_special(self, content: str) -> str:
        content = encodable(content)
        if self._special is None:
            return content
        return self._special.sub(lambda found: f"{found[0][0]} {found[0][1:]}", content)


_PIECE = re.compile(r"(?P<word>[A-Z]?[a-z]+)|(?P<space> (?=[A-Za-z]))|(?P<other>.)", re.DOTALL)


def bound_tokens(text: str) -> int:
    """At least as many tokens as a Llama tokenizer makes of English text, typically 1.5 to 2.5 times as many.

    Each part is the worst case of these vocabularies: a token for each digit, each of several capitals in a row, each
    other ASCII character and each UTF-8 byte beyond ASCII; a token for two letters of a word; a blank before a word is
    part of the word's token. A context that is cut too early costs a little recall, one that is longer than the
    server's window costs the answer.
    """
    # One more for the token that Llama-2 puts in front of a text that does not begin with a space.
    return sum(map(_cost, _PIECE.finditer(text))) + bool(text)


def truncate_to_bound(text: str, max_tokens: int) -> str:
    """The longest beginning that ends between two words or characters and whose bound is at most `max_tokens`."""
    spent = 1
    for piece in _PIECE.finditer(text):
        spent += _cost(piece)
        if spent > max_tokens:
            # A blank was free only as part of the word that does not fit any more.
            beginning = text[: piece.start()]
            return beginning.removesuffix(" ") if piece[0][0].isalpha() else beginning
    return text if max_tokens > 0 else ""


def _cost(piece: re.Match[str]) -> int:
    if piece["word"]:
        return (len(piece["word"]) + 1) // 2
    if piece["space"]:
        return 0
    return len(piece["other"].encode("utf-8", "surrogatepass"))
