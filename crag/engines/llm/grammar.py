"""Where a generation is in its Lark grammar, and which tokens may follow."""

from collections.abc import Collection, Sequence

from llguidance import LLMatcher, LLTokenizer


class GrammarError(ValueError):
    """llguidance cannot use a grammar; the message is llguidance's."""


def build_grammar_tokenizer(
    backend: str,
    vocabulary_size: int,
    end_tokens: Collection[int],
    main_end: int | None,
) -> LLTokenizer:
    """The tokenizer that all grammars of a model share; building it takes a second.

    `backend` is the text of `tokenizer.json`. llguidance 1.3.0, the one that vLLM 0.19.1 wants, takes one end token
    only: there texts under a grammar end with `main_end`.
    """

    def build(ends: list[int] | int | None) -> LLTokenizer:
        # The default slices need 0.3 s and 50 MB
        return LLTokenizer(backend, n_vocab=vocabulary_size, eos_token=ends, slices=[])

    try:
        return build(sorted(end_tokens))
    except TypeError:
        return build(main_end if main_end is not None else min(end_tokens, default=None))


class GrammarMatcher:
    """The position of one generation in its Lark grammar.

    Raises GrammarError: the grammar is invalid, or a token does not match it.
    """

    def __init__(self, tokenizer: LLTokenizer, grammar: str) -> None:
        # The prefix that `grammar_from_lark` writes marks Lark text; without it llguidance reads a JSON grammar.
        self._matcher = LLMatcher(tokenizer, LLMatcher.grammar_from_lark(grammar), log_level=0)
        self._raise_if_broken()

    def copy(self) -> "GrammarMatcher":
        """Another generation at the same position, which costs less than to read the grammar again."""
        copied = GrammarMatcher.__new__(GrammarMatcher)
        copied._matcher = self._matcher.deep_copy()
        return copied

    def allowed(self) -> bytes:
        """One byte per vocabulary token, 0 if the token is not allowed next."""
        mask = self._matcher.compute_logit_bias()
        self._raise_if_broken()
        return mask

    def advance(self, token: int) -> None:
        """Advance by a generated token."""
        self._matcher.consume_token(token)
        self._raise_if_broken()

    def valid(self, tokens: list[int]) -> list[int]:
        """The longest prefix of these tokens that may follow."""
        if not tokens:
            return []
        return tokens[: self._matcher.validate_tokens(tokens)]

    def forced(self) -> list[int]:
        """The tokens that must follow, up to the next choice; often none."""
        tokens: list[int] = self._matcher.compute_ff_tokens()
        return tokens

    def count_until_end(self, tokens: Sequence[int], end_tokens: Collection[int]) -> int:
        """Advance by a whole text; how many of its tokens the model chose, the end token among them if it did.

        The end token behind a text that only could end is not a choice, and does not count. Afterwards `finished` tells
        whether the text could only end.
        """
        for position, token in enumerate(tokens):
            if self.finished:
                return position
            if token in end_tokens:
                return position + 1
            self.advance(token)
        return len(tokens)

    @property
    def finished(self) -> bool:
        """Whether only the end of the text can follow."""
        return bool(self._matcher.is_stopped())

    def _raise_if_broken(self) -> None:
        if self._matcher.is_error():
            raise GrammarError(self._matcher.get_error().strip())
