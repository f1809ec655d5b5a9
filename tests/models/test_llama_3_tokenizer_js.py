"""The converted tokenizer against numbers that others have published for Llama 3."""

import base64
import json
from pathlib import Path

import pytest
from tokenizers import Tokenizer

from models.llama_3_tokenizer_js import convert
from models.llama_tokenizer_js import TokenizerSourceError
from models.manifest import WeightsMissingError, locate

PUBLISHED = [
    # Test cases of llama3-tokenizer-js, made with Meta's tokenizer.
    ("grabbed", [59312, 2788]),
    (" grabbed", [30418]),
    ("           grabbed", [1881, 30418]),
    ("\n", [198]),
    (" \n", [720]),
    ("\ttabs\t\t\t\tout here", [3324, 3518, 573, 14294, 1618]),
    ("ax\n####\nboo", [710, 198, 71050, 34093]),
    ("镇", [104643]),
    ("🦙Ꙋ", [9468, 99, 247, 166, 247, 232]),
    # Test of Meta's own library.
    ("This is a test sentence.", [2028, 374, 264, 1296, 11914, 13]),
]


@pytest.fixture(scope="module")
def folder() -> Path:
    try:
        return locate("llama-3-tokenizer")
    except WeightsMissingError as error:
        pytest.skip(str(error))


@pytest.mark.models
def test_tokens_are_those_that_others_published(folder: Path) -> None:
    tokenizer: Tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    for text, numbers in PUBLISHED:
        assert tokenizer.encode(text).ids == [128_000, *numbers]
        assert tokenizer.decode(numbers) == text
    assert tokenizer.get_vocab_size() == 128_256
    assert tokenizer.token_to_id("<|eot_id|>") == 128_009


@pytest.mark.models
def test_a_chat_is_written_as_the_model_card_says(folder: Path) -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    chat = [{"role": "system", "content": "Be short."}, {"role": "user", "content": " hi "}]
    assert tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True) == (
        "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nBe short.<|eot_id|>"
        "<|start_header_id|>user<|end_header_id|>\n\nhi<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n"
    )


def test_merges_of_17_bits(tmp_path: Path) -> None:
    """The last pair ends in the middle of a byte."""
    words = ["a", "b", "c", "ab", "abc", *(f"filler{number}" for number in range(127_995))]
    pairs = [(0, 1), (3, 2), (0, 127_999)]
    bits = "".join(f"{number:017b}" for pair in pairs for number in pair)
    packed = bytes(int(bits[place : place + 8].ljust(8, "0"), 2) for place in range(0, len(bits), 8))
    script = tmp_path / "data.js"
    vocabulary = base64.b64encode("\n".join(words).encode()).decode()
    merges = base64.b64encode(packed).decode()
    script.write_text(f'const llama_vocab_base64 = "{vocabulary}"\nconst llama_merges_binary = "{merges}"\n')
    convert(script, tmp_path)
    model = json.loads((tmp_path / "tokenizer.json").read_text(encoding="utf-8"))["model"]
    assert model["merges"] == [["a", "b"], ["ab", "c"], ["a", "filler127994"]]


def test_another_vocabulary_is_refused(tmp_path: Path) -> None:
    script = tmp_path / "data.js"
    script.write_text('const llama_vocab_base64 = "YQpi"\nconst llama_merges_binary = "AAAA"\n')
    with pytest.raises(TokenizerSourceError, match="expected 128000 tokens, found 2"):
        convert(script, tmp_path)
