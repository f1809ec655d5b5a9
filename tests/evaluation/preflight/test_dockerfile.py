from pathlib import Path

import pytest

from evaluation.preflight.dockerfile import (
    DockerfileError,
    build_context,
    copied,
    parse_dockerfile,
    parse_dockerignore,
    rule_against,
)

ROOT = Path(__file__).parents[3]
TEXT = """\
# syntax comment
ARG VERSION=3.11
FROM base:${VERSION}
ENV A=1 \\
    # a comment between lines
    B="two words"
ENV PATH=/opt/bin:${PATH} C=$A

COPY --chown=1:1 one two /target/
RUN first \\
    && second
USER someone
CMD ["python", "run.py", "--help"]
"""


def test_instructions_variables_copies_and_command() -> None:
    image = parse_dockerfile(TEXT)
    assert [instruction.name for instruction in image.instructions][:4] == ["ARG", "FROM", "ENV", "ENV"]
    (run,) = image.named("RUN")
    assert (run.text, run.line) == ("first && second", 10)
    environment = image.environment({"PATH": "/usr/bin"})
    assert environment == {"A": "1", "B": "two words", "PATH": "/opt/bin:/usr/bin", "C": "1"}
    (copy,) = image.copies
    assert (copy.sources, copy.target) == (("one", "two"), "/target/")
    assert image.command == ["python", "run.py", "--help"]


@pytest.mark.parametrize(
    "line", ["COPY", "COPY a", "COPY $A /t/", 'COPY ["a", "/t/"]', "COPY --from=x a b", "ADD x://y /t/"]
)
def test_a_copy_that_is_not_read_names_its_line(line: str) -> None:
    with pytest.raises(DockerfileError, match=r"Dockerfile:2: (COPY|ADD)"):
        _ = parse_dockerfile(f"FROM x\n{line}\n").copies


@pytest.mark.parametrize("lines", ["", "CMD run it", 'ENTRYPOINT ["a"]\nCMD ["b"]'])
def test_a_command_that_is_not_read(lines: str) -> None:
    with pytest.raises(DockerfileError, match="is not a list"):
        _ = parse_dockerfile(f"FROM x\n{lines}\n").command


def test_what_a_source_names() -> None:
    paths = ["requirements.txt", "requirements-cpu.txt", "deep/requirements.txt", "deep/folder/a", "b.py"]
    assert list(copied("requirements*.txt", paths)) == ["requirements.txt", "requirements-cpu.txt"]
    assert copied("./deep/", paths) == {"deep/requirements.txt": "requirements.txt", "deep/folder/a": "folder/a"}
    assert copied("d*/fold?r", paths) == {"deep/folder/a": "a"}, "what is in a folder that matches"
    assert copied(".", paths) == {path: path for path in paths}
    assert copied("none*", paths) == {}


@pytest.mark.parametrize(
    ("rules", "path", "kept_out"),
    [
        ("models/**", "models/fetch.py", True),
        ("models/weights", "models/weights/m/model.bin", True),
        ("models/weights", "models/fetch.py", False),
        ("*.py", "a.py", True),
        ("*.py", "agents/a.py", False),
        ("**/*.py", "a.py", True),
        ("**/*.py", "agents/web/a.py", True),
        ("**/__pycache__", "agents/__pycache__/a.pyc", True),
        ("a?c", "abc", True),
        ("a?c", "a/c", False),
        (".venv*", ".venv-vllm/bin/python", True),
        ("models/*\n!models/keep", "models/keep/x", False),
        ("models/*\n!models/keep", "models/other/x", True),
        ("# models\n\n/models/", "models/x", True),
    ],
)
def test_rules_match_as_dockers_do(rules: str, path: str, kept_out: bool) -> None:
    assert (rule_against(path, parse_dockerignore(rules)) is not None) is kept_out


def test_our_own_file_keeps_weights_and_secrets_out_and_the_code_in() -> None:
    rules = parse_dockerignore((ROOT / ".dockerignore").read_text())
    out = ["agents/web/__pycache__/x.pyc", ".env", "results/a/b.json", ".git/config", "models/weights/m/w.bin"]
    kept = ["models/fetch.py", "models/manifest.toml", "models/user_config.py", "agents/presets/submission.toml"]
    assert [path for path in out + kept if rule_against(path, rules) is not None] == out


def test_the_context_says_which_rule_keeps_a_file_out_and_does_not_search_ignored_hidden_folders(
    tmp_path: Path,
) -> None:
    for name in ("code/a.py", "weights/w.bin", ".git/config", "code/__pycache__/a.pyc", ".venv/bin/python"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / ".dockerignore").write_text("# large\nweights\n.venv*\n")
    seen, ignored = build_context(tmp_path)
    assert seen == [".dockerignore", "code/a.py"]
    assert {path: (rule.line, rule.text) for path, rule in ignored.items()} == {"weights/w.bin": (2, "weights")}
