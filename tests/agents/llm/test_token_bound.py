from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.llm.tokenizer import ChatTokenizer, bound_tokens, truncate_to_bound
from models.manifest import WeightsMissingError, locate

REPOSITORY = Path(__file__).parents[3]
TEXTS = [
    "Aristotle was born in 384 BC and taught Alexander.",
    "Szczepan Krzyzewski met Xzibit; AAPL and TSLA rose 1.5%.",
    "12,345.67 vs 2024-01-02 10:11:12",
    "| year | film |\n|------|------|\n| 1994 | 2 |\n\n\n   end",
    "naïve café, “quoted”, 北京 🙂",
    "https://www.example.com/a_b?c=d&e=f",
    "a",
]


@pytest.mark.models
@pytest.mark.parametrize("name", ["llama-2-tokenizer", "smollm2-135m-instruct", "qwen2.5-coder-0.5b-instruct"])
def test_the_bound_is_above_real_tokenizers_and_not_absurd(name: str) -> None:
    try:
        tokenizer = ChatTokenizer(locate(name))
    except WeightsMissingError as error:
        pytest.skip(str(error))
    sources = [*REPOSITORY.glob("agents/**/*.py"), *REPOSITORY.glob("docs/*.md")]
    for text in [*TEXTS, *(path.read_text(encoding="utf-8") for path in sources)]:
        real = tokenizer.count(text)
        assert real <= bound_tokens(text) <= 4 * real + 2


@given(st.text(), st.integers(0, 40))
def test_what_is_kept_is_within_the_bound(text: str, limit: int) -> None:
    kept = truncate_to_bound(text, limit)
    assert text.startswith(kept)
    assert bound_tokens(kept) <= limit
    if bound_tokens(text) <= limit:
        assert kept == text
