#!/usr/bin/env bash
# llguidance 1.3.0, which vLLM 0.19.1 asks for: a tokenizer with several end tokens cannot be made.
#
# Guessed before the run: `LLTokenizer(..., eos_token=[1, 2])` works in all versions 1.x, as chat models have two or three
# end tokens and their generation_config.json gives a list.
# Seen: 1.3.0 raises a TypeError, before it reads the tokenizer: only a number is accepted. 1.7.6 accepts the list, and
# its grammars end with any of them.
# What it means: an environment that is tied to vLLM 0.19.1 gets the old version; pass it the first end token.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

make_end_tokens() {
  python3 -m venv "$folder/$1"
  "$folder/$1/bin/pip" install --quiet --disable-pip-version-check "llguidance==$1" "tokenizers==0.22.1"
  "$folder/$1/bin/python" - <<'PYTHON'
from importlib.metadata import version

from llguidance import LLTokenizer
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

alphabet = pre_tokenizers.ByteLevel.alphabet()
vocabulary = {letter: number for number, letter in enumerate(sorted(alphabet))}
tokenizer = Tokenizer(models.BPE(vocabulary, []))
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tokenizer.decoder = decoders.ByteLevel()
tokenizer.add_special_tokens(["<end_of_text>", "<end_of_turn>"])
ends = [tokenizer.token_to_id(token) for token in ("<end_of_text>", "<end_of_turn>")]

LLTokenizer(tokenizer.to_str(), eos_token=ends[0])
try:
    LLTokenizer(tokenizer.to_str(), eos_token=ends)
    outcome = "accepted"
except TypeError:
    outcome = "TypeError"
print(f"llguidance {version('llguidance')}: two end tokens: {outcome}")
PYTHON
}

old=$(make_end_tokens 1.3.0)
new=$(make_end_tokens 1.7.6)
printf '%s\n%s\n' "$old" "$new"
[[ $old == *TypeError && $new == *accepted ]] || { echo "the behaviour has changed"; exit 1; }
