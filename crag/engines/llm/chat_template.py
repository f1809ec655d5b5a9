"""Renders chats with a model's own template, character by character as transformers 5 does, which need not be loaded.

Models were trained on what transformers makes of their templates. The environment here is that of its file
`utils/chat_template_utils.py`, version 5.
"""

import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn

from jinja2 import Template, TemplateError, nodes
from jinja2.exceptions import SecurityError
from jinja2.ext import Extension
from jinja2.parser import Parser
from jinja2.runtime import Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace

TEMPLATE_FAULTS = (TemplateError, TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError)
"""What a template raises: by itself, or because its expressions do not fit the chat."""

_TEMPLATE_FILE = "chat_template.jinja"
_MORE_TEMPLATES = "additional_chat_templates"
_SPECIAL_TOKENS_FILE = "special_tokens_map.json"


def read_config(folder: Path, name: str) -> dict[str, Any]:
    """A JSON file of a model's folder; empty if there is none."""
    path = folder / name
    if not path.is_file():
        return {}
    config: dict[str, Any] = json.loads(path.read_bytes())
    return config


def read_template_source(folder: Path, config: dict[str, Any]) -> str | None:
    """The template of a model's folder: a file of its own before that in `config`; of several the one named default."""
    for file in (folder / _TEMPLATE_FILE, folder / _MORE_TEMPLATES / "default.jinja"):
        if file.is_file():
            return file.read_text(encoding="utf-8")

    source = config.get("chat_template")
    if isinstance(source, list):  # several templates by name
        source = {entry["name"]: entry["template"] for entry in source}
    if isinstance(source, dict):
        source = source.get("default")
    return source or None


def read_named_tokens(folder: Path, config: dict[str, Any]) -> dict[str, str]:
    """The tokens that have a role: ``bos_token``, ``eos_token``, ``pad_token`` and the like."""
    entries = {**config, **_read_more_tokens(config)}
    # Older models have them in a file of its own, which then wins.
    if "added_tokens_decoder" not in config:
        tokens = read_config(folder, _SPECIAL_TOKENS_FILE)
        entries |= {**tokens, **_read_more_tokens(tokens)}

    spellings: dict[str, str] = {}
    for name, value in entries.items():
        if not name.endswith("_token"):
            continue
        # Some configs write a token as an object with flags, others as a plain string.
        spelling = value.get("content") if isinstance(value, dict) else value
        if isinstance(spelling, str):  # ``add_bos_token`` is a flag
            spellings[name] = spelling
    return spellings


def _read_more_tokens(config: dict[str, Any]) -> dict[str, Any]:
    """Tokens with names of the model's own, such as ``image_token``."""
    tokens: dict[str, Any] = {}
    for name in ("extra_special_tokens", "model_specific_special_tokens"):
        value = config.get(name)
        if isinstance(value, dict):
            tokens |= value
    return tokens


def compile_template(source: str) -> Template:
    """The template in the environment that it was written for. Raises jinja2.TemplateError."""
    # A template is code from a downloaded file, hence the sandbox.
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=[_GenerationBlock, "jinja2.ext.loopcontrols"],
    )
    # The filter of jinja writes "<" as an escape.
    environment.filters["tojson"] = _to_json
    environment.globals["raise_exception"] = _refuse
    environment.globals["strftime_now"] = _format_now
    environment.globals["dict"] = _PlainDict()
    environment.globals["namespace"] = _PlainNamespace
    return environment.from_string(source)


def render_chat(
    template: Template,
    messages: Sequence[dict[str, str]],
    named_tokens: dict[str, str],
    *,
    add_generation_prompt: bool,
) -> str:
    """The chat as text. Raises one of `TEMPLATE_FAULTS`."""
    return template.render(
        messages=list(messages),
        # Templates ask whether they are none; undefined would be something else.
        tools=None,
        documents=None,
        add_generation_prompt=add_generation_prompt,
        **named_tokens,
    )


class _GenerationBlock(Extension):
    """``{% generation %}`` marks the assistant's text for training; it renders what is inside."""

    tags = {"generation"}  # noqa: RUF012 - as jinja declares it

    def parse(self, parser: Parser) -> nodes.Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        # A block with a scope of its own: what is set inside is not set outside.
        call = self.call_method("_render_inside")
        return nodes.CallBlock(call, [], [], body).set_lineno(line)

    def _render_inside(self, caller: Macro) -> str:
        return str(caller())


class _PlainDict:
    """The function ``dict`` of templates, without the attributes of Python's type."""

    def __call__(self, *values: Any, **keywords: Any) -> dict[Any, Any]:  # noqa: ANN401 - whatever a template passes
        return dict(*values, **keywords)

    def fromkeys(self, *values: Any) -> dict[Any, Any]:  # noqa: ANN401
        return dict.fromkeys(*values)


class _PlainNamespace(Namespace):
    """The function ``namespace`` of templates: no name may begin with an underscore."""

    def __init__(*values: Any, **keywords: Any) -> None:  # noqa: ANN401 - as jinja's: "self" may be a name
        self, *rest = values
        attributes = dict(*rest, **keywords)
        for name in attributes:
            _check_name(name)
        Namespace.__init__(self, attributes)

    def __setitem__(self, name: str, value: Any) -> None:  # noqa: ANN401
        _check_name(name)
        super().__setitem__(name, value)


def _check_name(name: object) -> None:
    if isinstance(name, str) and name.startswith("_"):
        raise SecurityError(f"a namespace has no attribute {name!r}: it begins with an underscore")


def _to_json(
    value: Any,  # noqa: ANN401 - whatever a template passes
    ensure_ascii: bool = False,
    indent: int | str | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def _format_now(form: str) -> str:
    # Without a zone, as transformers does: %z and %Z are empty.
    return datetime.now().strftime(form)


def _refuse(message: str) -> NoReturn:
    raise TemplateError(message)
