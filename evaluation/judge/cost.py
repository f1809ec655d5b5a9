"""What a judging model cost."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Prices:
    """Money per million tokens."""

    prompt: float
    completion: float


@dataclass(slots=True)
class JudgeCost:
    """Counts so far. `claims` were to be judged, `cached` of them were known; `requests` count every attempt."""

    claims: int = 0
    cached: int = 0
    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    prices: Prices | None = None

    def line(self) -> str:
        """One line for people; money only where prices are known."""
        share = f"{self.cached / self.claims:.0%}" if self.claims else "none"
        text = (
            f"judge: {self.requests} requests, {self.prompt_tokens} prompt and {self.completion_tokens} completion "
            f"tokens; {self.cached} of {self.claims} verdicts ({share}) from the cache"
        )
        if self.prices is None:
            return text
        money = (self.prompt_tokens * self.prices.prompt + self.completion_tokens * self.prices.completion) / 1_000_000
        return f"{text}; {money:.4f} at the given prices"
