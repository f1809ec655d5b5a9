"""Decoding under a grammar for the transformers engine, by the llguidance package (which vLLM can use as well)."""

from functools import cached_property
from typing import TYPE_CHECKING

from agents.llm.base import EngineUnavailableError

if TYPE_CHECKING:
    from llguidance import LLTokenizer
    from transformers import PreTrainedTokenizerFast


class GrammarError(ValueError):
    """A grammar that llguidance cannot use; the message is its own."""


class GrammarCompiler:
    """Makes one matcher per request; what depends on the tokenizer alone is built once, on first use (a second)."""

    def __init__(
        self, huggingface_tokenizer: "PreTrainedTokenizerFast", vocabulary_size: int, end_tokens: list[int]
    ) -> None:
        self._tokenizer = huggingface_tokenizer
        self._end_tokens = end_tokens
        self._vocabulary_size = vocabulary_size

    @cached_property
    def _guide(self) -> "LLTokenizer":
        try:
            from llguidance.hf import from_tokenizer
        except ImportError as error:
            raise EngineUnavailableError(
                f"a request has a grammar, which needs llguidance ({error}): pip install llguidance==1.9.1"
            ) from error
        return from_tokenizer(self._tokenizer, n_vocab=self._vocabulary_size, eos_token=self._end_tokens)

    def matcher(self, grammar: str) -> "GrammarMatcher":
        """A matcher at the beginning of a Lark grammar.

        Raises:
            GrammarError: the grammar is not valid.
            EngineUnavailableError: llguidance is not installed.
        """
        return GrammarMatcher(self._guide, grammar)


class GrammarMatcher:
    """Where one generation stands in its grammar."""

    def __init__(self, guide: "LLTokenizer", grammar: str) -> None:
        from llguidance import LLMatcher

        # The prefix tells llguidance that this is Lark text and not a JSON grammar.
        self._matcher = LLMatcher(guide, LLMatcher.grammar_from_lark(grammar), log_level=0)
        self._raise_if_broken()

    def allowed(self) -> bytes:
        """One byte per token of the vocabulary, 0 where the token must not come next."""
        mask = self._matcher.compute_logit_bias()
        self._raise_if_broken()
        return mask

    def advance(self, token: int) -> None:
        """Note that this token was generated."""
        self._matcher.consume_token(token)
        self._raise_if_broken()

    @property
    def finished(self) -> bool:
        """True where nothing but the end of text can follow."""
        return bool(self._matcher.is_stopped())

    def _raise_if_broken(self) -> None:
        if self._matcher.is_error():
            raise GrammarError(self._matcher.get_error().strip())
