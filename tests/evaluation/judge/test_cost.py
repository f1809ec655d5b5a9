"""What a judging model cost, in one line."""

from evaluation.judge.cost import JudgeCost, Prices


def test_the_line() -> None:
    cost = JudgeCost(claims=8, cached=6, requests=3, prompt_tokens=1500, completion_tokens=30)
    assert cost.line() == (
        "judge: 3 requests, 1500 prompt and 30 completion tokens; 6 of 8 verdicts (75%) from the cache"
    )


def test_money_needs_prices() -> None:
    cost = JudgeCost(prompt_tokens=2_000_000, completion_tokens=100_000, prices=Prices(2.5, 10.0))
    assert cost.line().endswith("; 6.0000 at the given prices")
    assert "none" in JudgeCost().line()
