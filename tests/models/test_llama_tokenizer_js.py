"""The converted tokenizer against numbers that others have published for Llama's vocabulary."""

import base64
import struct
from pathlib import Path

import pytest
from tokenizers import Tokenizer

from models.llama_tokenizer_js import TokenizerSourceError, convert
from models.manifest import WeightsMissingError, locate

PUBLISHED = [
    # Documentation of transformers' LLaMA tokenizer.
    ("Hello, my dog is cute", [15043, 29892, 590, 11203, 338, 274, 1082]),
    # Test cases of llama-tokenizer-js, made with the original SentencePiece model.
    ("grabbed", [2646, 1327, 287]),
    (" grabbed", [29871, 2646, 1327, 287]),
    ("           grabbed", [9651, 2646, 1327, 287]),
    ("\n", [29871, 13]),
    ("ax\n####\nboo", [4853, 13, 4136, 13, 833, 29877]),
    ("镇", [29871, 30411]),
    ("🦙", [29871, 243, 162, 169, 156]),
]


def script_of(vocabulary: list[str], merges: list[tuple[int, int]]) -> str:
    words = base64.b64encode("\n".join(vocabulary).encode()).decode()
    numbers = base64.b64encode(b"".join(struct.pack("<HH", *pair) for pair in merges)).decode()
    return f'const llama_vocab_base64 = "{words}"\nconst llama_merges_binary = "{numbers}"\n'


@pytest.fixture(scope="module")
def llama() -> Tokenizer:
    try:
        folder = locate("llama-2-tokenizer")
    except WeightsMissingError as error:
        pytest.skip(str(error))
    return Tokenizer.from_file(str(folder / "tokenizer.json"))


@pytest.mark.models
@pytest.mark.parametrize(("text", "numbers"), PUBLISHED)
def test_tokens_are_those_that_others_published(llama: Tokenizer, text: str, numbers: list[int]) -> None:
    assert llama.encode(text).ids == [1, *numbers]
    assert llama.decode(numbers) == text


@pytest.mark.models
def test_it_is_llamas_vocabulary_and_not_a_relatives(llama: Tokenizer) -> None:
    """Packages that carry the vocabulary of Mistral under Llama's name exist; there "1" is 28740."""
    assert llama.get_vocab_size() == 32_000
    assert (llama.token_to_id("▁"), llama.token_to_id("1")) == (29871, 29896)


def test_merges_join_in_their_order(tmp_path: Path) -> None:
    vocabulary = ["<unk>", "<s>", "</s>", "▁", "a", "b", "ab", "▁ab"] + [f"filler{n}" for n in range(31_992)]
    script = tmp_path / "package.js"
    script.write_text(script_of(vocabulary, [(4, 5), (3, 6)]), encoding="utf-8")
    convert(script, tmp_path)
    assert Tokenizer.from_file(str(tmp_path / "tokenizer.json")).encode("ab b").tokens == ["<s>", "▁ab", "▁", "b"]


@pytest.mark.parametrize(
    ("text", "told"),
    [("const other = 1", "llama_vocab_base64"), (script_of(["a", "b"], []), "expected 32000 tokens, found 2")],
)
def test_an_unexpected_script_is_told(tmp_path: Path, text: str, told: str) -> None:
    script = tmp_path / "package.js"
    script.write_text(text, encoding="utf-8")
    with pytest.raises(TokenizerSourceError, match=told):
        convert(script, tmp_path)
