"""How fast a model runs on this machine, measured while it runs, so that work is taken in pieces that fit the time."""

import math


class Pace:
    """Seconds per prompt token and seconds per decoding step, corrected by every measurement.

    An estimate, and a busy machine spoils it: it says how much work to take at once, never that work is not begun.
    Before anything was measured every amount of work is taken to be affordable.
    """

    _NEWEST = 0.3
    """Weight of a slower measurement: a busy machine shows within a few batches, one slow step decides nothing. A
    quicker one counts at once, because what was that quick can be that quick."""
    _FEWEST_TOKENS = 16
    """A shorter prefill says more about fixed costs than about the price of a token."""

    def __init__(self) -> None:
        self.seconds_per_prompt_token: float | None = None
        self.seconds_per_step: float | None = None

    def note_prefill(self, tokens: int, seconds: float) -> None:
        """Record that `tokens` prompt tokens (padding included) took `seconds`."""
        if tokens >= self._FEWEST_TOKENS:
            self.seconds_per_prompt_token = self._corrected(self.seconds_per_prompt_token, seconds / tokens)

    def note_decoding(self, steps: int, seconds: float) -> None:
        """Record that `steps` steps, each one token for every prompt of the batch, took `seconds`."""
        if steps > 0:
            self.seconds_per_step = self._corrected(self.seconds_per_step, seconds / steps)

    def prefill_seconds(self, tokens: int) -> float:
        """Expected seconds to read that many prompt tokens."""
        return tokens * (self.seconds_per_prompt_token or 0.0)

    def prefill_tokens(self, seconds: float) -> float:
        """How many prompt tokens can be read in so many seconds, a fraction or infinity."""
        return seconds / self.seconds_per_prompt_token if self.seconds_per_prompt_token else math.inf

    def steps_within(self, seconds: float) -> float:
        """How many decoding steps fit, a fraction or infinity; 0 where no time is left."""
        if seconds <= 0:
            return 0.0
        return seconds / self.seconds_per_step if self.seconds_per_step else math.inf

    def _corrected(self, old: float | None, new: float) -> float:
        return new if old is None or new < old else (1 - self._NEWEST) * old + self._NEWEST * new

    def forget(self) -> None:
        """Drop all measurements."""
        self.seconds_per_prompt_token = self.seconds_per_step = None
