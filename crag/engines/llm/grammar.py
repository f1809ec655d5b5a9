"""Where a generation is in its Lark grammar, and which tokens may follow."""

from llguidance import LLMatcher, LLTokenizer


class GrammarError(ValueError):
    """llguidance cannot use a grammar; the message is llguidance's."""


class GrammarMatcher:
    """The position of one generation in its Lark grammar.

    Raises GrammarError: the grammar is invalid, or a token does not match it.
    """

    def __init__(self, tokenizer: LLTokenizer, grammar: str) -> None:
        # The prefix that `grammar_from_lark` writes marks Lark text; without it llguidance reads a JSON grammar.
        self._matcher = LLMatcher(tokenizer, LLMatcher.grammar_from_lark(grammar), log_level=0)
        self._raise_if_broken()

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

    @property
    def finished(self) -> bool:
        """Whether only the end of the text can follow."""
        return bool(self._matcher.is_stopped())

    def _raise_if_broken(self) -> None:
        if self._matcher.is_error():
            raise GrammarError(self._matcher.get_error().strip())
