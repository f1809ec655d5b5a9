"""The converted tokenizers against numbers that others have published."""

import base64
import json
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from tokenizers import Tokenizer

from crag.weights.conversion.llama_tokenizer_js import TokenizerSourceError, convert_llama_2, convert_llama_3
from crag.weights.manifest import WeightsMissingError, locate

LLAMA_2 = [
    # Documentation of transformers' LLaMA tokenizer.
    ("Hello, my dog is cute", [15043, 29892, 590, 11203, 338, 274, 1082]),
    # Test cases of llama-tokenizer-js, made with the original SentencePiece model.
    (" grabbed", [29871, 2646, 1327, 287]),
    ("           grabbed", [9651, 2646, 1327, 287]),
    ("ax\n####\nboo", [4853, 13, 4136, 13, 833, 29877]),
    ("镇", [29871, 30411]),
    ("🦙", [29871, 243, 162, 169, 156]),
    ("1", [29871, 29896]),  # packages carry the vocabulary of Mistral under Llama's name; there it is 28740
]
LLAMA_3 = [
    # Test cases of llama3-tokenizer-js, made with Meta's tokenizer.
    ("grabbed", [59312, 2788]),
    ("           grabbed", [1881, 30418]),
    ("\ttabs\t\t\t\tout here", [3324, 3518, 573, 14294, 1618]),
    ("ax\n####\nboo", [710, 198, 71050, 34093]),
    ("🦙Ꙋ", [9468, 99, 247, 166, 247, 232]),
    # Test of Meta's own library.
    ("This is a test sentence.", [2028, 374, 264, 1296, 11914, 13]),
]


def script(folder: Path, vocabulary: list[str], merges: bytes) -> Path:
    words, pairs = (base64.b64encode(data).decode() for data in ("\n".join(vocabulary).encode(), merges))
    path = folder / "package.js"
    path.write_text(f'const llama_vocab_base64 = "{words}"\nconst llama_merges_binary = "{pairs}"\n')
    return path


def fetched(name: str) -> Path:
    try:
        return locate(name)
    except WeightsMissingError as error:
        pytest.skip(str(error))


@pytest.mark.models
@pytest.mark.parametrize(
    ("name", "begin", "published"), [("llama-2-tokenizer", 1, LLAMA_2), ("llama-3-tokenizer", 128_000, LLAMA_3)]
)
def test_tokens_are_those_that_others_published(name: str, begin: int, published: list[tuple[str, list[int]]]) -> None:
    tokenizer: Tokenizer = Tokenizer.from_file(str(fetched(name) / "tokenizer.json"))
    for text, numbers in published:
        assert tokenizer.encode(text).ids == [begin, *numbers]
        assert tokenizer.decode(numbers) == text


@pytest.mark.models
def test_a_chat_is_written_as_the_model_card_of_llama_3_says() -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(fetched("llama-3-tokenizer"), local_files_only=True)
    chat = [{"role": "system", "content": "Be short."}, {"role": "user", "content": " hi "}]
    assert tokenizer.convert_tokens_to_ids("<|eot_id|>") == 128_009
    assert tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True) == (
        "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nBe short.<|eot_id|>"
        "<|start_header_id|>user<|end_header_id|>\n\nhi<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n"
    )


def test_merges_of_16_bits_join_in_their_order(tmp_path: Path) -> None:
    vocabulary = ["<unk>", "<s>", "</s>", "▁", "a", "b", "ab", "▁ab"] + [f"filler{n}" for n in range(31_992)]
    merges = b"".join(struct.pack("<HH", *pair) for pair in ((4, 5), (3, 6)))
    convert_llama_2(script(tmp_path, vocabulary, merges), tmp_path)
    assert Tokenizer.from_file(str(tmp_path / "tokenizer.json")).encode("ab b").tokens == ["<s>", "▁ab", "▁", "b"]


def test_merges_of_17_bits_may_end_in_the_middle_of_a_byte(tmp_path: Path) -> None:
    words = ["a", "b", "c", "ab", "abc", "afiller127993", *(f"filler{number}" for number in range(127_994))]
    bits = "".join(f"{number:017b}" for pair in ((0, 1), (3, 2), (0, 127_999)) for number in pair)
    packed = bytes(int(bits[place : place + 8].ljust(8, "0"), 2) for place in range(0, len(bits), 8))
    convert_llama_3(script(tmp_path, words, packed), tmp_path)
    model = json.loads((tmp_path / "tokenizer.json").read_text(encoding="utf-8"))["model"]
    assert model["merges"] == [["a", "b"], ["ab", "c"], ["a", "filler127993"]]


@pytest.mark.parametrize(("convert", "size"), [(convert_llama_2, 32_000), (convert_llama_3, 128_000)])
def test_an_unexpected_script_is_refused(tmp_path: Path, convert: Callable[[Path, Path], None], size: int) -> None:
    with pytest.raises(TokenizerSourceError, match=f"expected {size} tokens, found 2"):
        convert(script(tmp_path, ["a", "b"], b"AAAA"), tmp_path)
    (tmp_path / "package.js").write_text("const other = 1")
    with pytest.raises(TokenizerSourceError, match="llama_vocab_base64"):
        convert(tmp_path / "package.js", tmp_path)
