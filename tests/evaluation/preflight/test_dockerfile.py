from pathlib import Path

import pytest

from evaluation.preflight.dockerfile import DockerfileError, build_context, copied, parse_dockerfile, parse_dockerignore

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
COPY --from=other /x /y
RUN first \\
    && second
USER someone
ENTRYPOINT ["python"]
CMD ["run.py", "--help"]
"""


def test_instructions_have_their_first_line_and_their_whole_text() -> None:
    image = parse_dockerfile(TEXT)
    assert [instruction.name for instruction in image.instructions][:4] == ["ARG", "FROM", "ENV", "ENV"]
    (run,) = image.named("RUN")
    assert (run.text, run.line) == ("first && second", 11)


def test_variables_are_filled_in() -> None:
    environment = parse_dockerfile(TEXT).environment({"PATH": "/usr/bin"})
    assert environment == {"A": "1", "B": "two words", "PATH": "/opt/bin:/usr/bin", "C": "1"}


def test_copies_and_command() -> None:
    image = parse_dockerfile(TEXT)
    (copy,) = image.copies
    assert (copy.sources, copy.target) == (("one", "two"), "/target/")
    assert image.command == ["python", "run.py", "--help"]
    assert parse_dockerfile("FROM x\nCMD run it\n").command == ["sh", "-c", "run it"]
    assert parse_dockerfile('FROM x\nCMD ["a", "b, c"]\n').command == ["a", "b, c"]
    assert parse_dockerfile("FROM x\nCMD ['a']\n").command == ["sh", "-c", "['a']"], "single quotes are no JSON"


def test_copies_in_every_form() -> None:
    text = """FROM x
COPY --chown=1:1 ["a b", "c", "/t/"]
COPY <<EOF $HERE/x y /t/
USER nobody
EOF
ADD https://example.org/x.tar git@example.org:x.git /t/
RUN <<-'END' sh
pip install -r requirements.txt
END
USER someone
"""
    image = parse_dockerfile(text)
    assert [(copy.sources, copy.unknown) for copy in image.copies] == [
        (("a b", "c"), ()), (("y",), ("<<EOF", "$HERE/x")), ((), ()),
    ]  # fmt: skip
    assert [user.text for user in image.named("USER")] == ["someone"], "the other one is text of a file"
    assert "pip install" in image.named("RUN")[0].text


@pytest.mark.parametrize("line", ["COPY", "COPY alone", "ADD --chown=1:1 alone", "COPY 'open /t/"])
def test_a_copy_that_docker_refuses(line: str) -> None:
    with pytest.raises(DockerfileError, match=r"Dockerfile:2: (COPY|ADD)"):
        _ = parse_dockerfile(f"FROM x\n{line}\n").copies


def test_a_rule_that_is_no_pattern() -> None:
    with pytest.raises(DockerfileError, match=r"\.dockerignore:2: '\[z-a\]'"):
        parse_dockerignore("a\n[z-a]\n")


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
    assert (parse_dockerignore(rules).rule_against(path) is not None) is kept_out


def test_our_own_file_keeps_weights_and_secrets_out_and_the_code_in() -> None:
    rules = parse_dockerignore((ROOT / ".dockerignore").read_text())
    out = ["agents/web/__pycache__/x.pyc", ".env", "results/a/b.json", ".git/config", "models/weights/m/w.bin"]
    kept = ["models/fetch.py", "models/manifest.toml", "models/user_config.py", "agents/presets/submission.toml"]
    assert [path for path in out + kept if rules.rule_against(path) is not None] == out


def test_the_context_says_which_rule_keeps_a_file_out(tmp_path: Path) -> None:
    for name in ("code/a.py", "weights/w.bin", ".git/config", "code/__pycache__/a.pyc"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / ".dockerignore").write_text("# large\nweights\n")
    seen, ignored = build_context(tmp_path)
    assert seen == [".dockerignore", "code/a.py"]
    assert [(item.path, item.rule.line, item.rule.text) for item in ignored] == [("weights/w.bin", 2, "weights")]


def test_a_virtual_environment_is_not_walked_through_unless_a_rule_takes_part_of_it_back(tmp_path: Path) -> None:
    for name in ("a.py", ".venv/bin/python", ".venv/keep/b.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / ".dockerignore").write_text(".venv*\n!other/keep\n")
    seen, ignored = build_context(tmp_path)
    assert ignored == []
    (tmp_path / ".dockerignore").write_text(".venv*\n!.venv/keep\n")
    seen, ignored = build_context(tmp_path)
    assert seen == [".dockerignore", ".venv/keep/b.py", "a.py"]
    assert [item.path for item in ignored] == [".venv/bin/python"]
