#!/usr/bin/env bash
# @huggingface/jinja 0.5.11 beside Jinja2 3.1.6: chat templates take other characters away, and compare otherwise.
#
# Guessed before the first run: it prints 1.0 as 1 and true in small letters, as JavaScript does, and agrees otherwise.
# Guessed before the second, after {{ -7 % 3 }} had differed: methods of strings agree.
# Seen: strip, lstrip and rstrip ignore the characters they are given and take all white space. A template that cuts
# the line breaks behind "</think>" by lstrip('\n') takes the first line's indentation with them, rstrip('\n') takes
# blanks, and '007'.lstrip('0') stays '007'. '1' == 1, '' == 0 and [] == '' are true, [1] == [1] is false. capitalize
# leaves "BBC news" as it is, which Jinja2 makes "Bbc news". The keys of a tool's JSON that look like numbers are
# sorted before the others: {"b", "2024", "1999"} comes as 1999, 2024, b; 5.0 in it is 5. Nothing is raised.
# minijinja 3.1.0, the other common port, strips and compares as Jinja2 does, and writes < in JSON as \u003c, unlike
# transformers.
# What it means: a prompt that is made in JavaScript, or judged there, is not the one that the model was trained on or
# measured with, in a token or two that nobody sees: a program's first line loses its place. This project makes its
# prompts by Jinja2.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "Jinja2==3.1.6" "minijinja==3.1.0"
npm install --silent --no-fund --no-audit --prefix "$folder" "@huggingface/jinja@0.5.11"
cat >"$folder/render.mjs" <<'JAVASCRIPT'
import { readFileSync } from "node:fs";
import { Template } from "@huggingface/jinja";

const { templates, values } = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(templates.map((template) => new Template(template).render(values))));
JAVASCRIPT
"$folder/venv/bin/python" - "$folder" <<'PYTHON'
import json
import subprocess
import sys

import minijinja
from jinja2.sandbox import ImmutableSandboxedEnvironment

# A template -> what Jinja2 and what the port makes of it
DIFFERENT = {
    "{{ answer.lstrip('\\n') }}": ("    total = 5  \n", "total = 5  \n"),
    "{{ answer.rstrip('\\n') }}|": ("\n\n    total = 5  |", "\n\n    total = 5|"),
    "{{ '007'.lstrip('0') }}": ("7", "007"),
    "{{ '**Paris**'.strip('*') }}": ("Paris", "**Paris**"),
    "{{ 'same' if '1' == 1 else 'not' }}": ("not", "same"),
    "{{ 'same' if '' == 0 else 'not' }}": ("not", "same"),
    "{{ 'same' if [1] == [1] else 'not' }}": ("same", "not"),
    "{{ 'BBC news' | capitalize }}": ("Bbc news", "BBC news"),
    "{{ -7 % 3 }}": ("2", "-1"),
}
VALUES = {"answer": "\n\n    total = 5  \n", "tool": {"b": 1, "2024": 2, "1999": 3}, "text": "1 < 2"}

environment = ImmutableSandboxedEnvironment()
# As transformers sets it
environment.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)
templates = [*DIFFERENT, "{{ tool | tojson }}", "{{ 5.0 | tojson }}"]
expected = [*DIFFERENT.values(), ('{"b": 1, "2024": 2, "1999": 3}', '{"1999": 3, "2024": 2, "b": 1}'), ("5.0", "5")]

folder = sys.argv[1]
told = json.dumps({"templates": templates, "values": VALUES})
rendered = subprocess.run(["node", "render.mjs"], input=told, cwd=folder, capture_output=True, text=True, check=True)
for template, (plain, ported), seen in zip(templates, expected, json.loads(rendered.stdout), strict=True):
    assert environment.from_string(template).render(VALUES) == plain, template
    assert seen == ported, (template, seen)

other_port = minijinja.Environment()
for template, (plain, _) in DIFFERENT.items():
    assert other_port.render_str(template, **VALUES) == plain, template
assert environment.from_string("{{ text | tojson }}").render(VALUES) == '"1 < 2"'
assert other_port.render_str("{{ text | tojson }}", **VALUES) == '"1 \\u003c 2"'

print("as described: strip ignores its characters, '1' is 1, and keys that are numbers come first")
PYTHON
