"""How a shipped adapter is made: the steps of recipes.toml with folders and files put in, and which are done."""

import shlex
import tomllib
from pathlib import Path
from typing import NamedTuple

from training.api_pairs.__main__ import QUESTIONS
from training.segments import DEFAULT_FILE as CONTEXTS

RECIPES = Path(__file__).with_name("recipes.toml")


class GivenFiles(NamedTuple):
    """What the user has to learn from; None and no graph: the defaults of the steps.

    Without `real`, nothing is learnt from `questions`.
    """

    questions: Path | None = None
    graph: tuple[Path, ...] = ()
    contexts: Path | None = None
    real: bool = True

    def arguments(self) -> dict[str, list[str]]:
        """What stands for each placeholder of a recipe: an option and a path, several times or not at all."""
        questions = ["--questions", str((self.questions or QUESTIONS).resolve())]
        return {
            "{questions}": questions if self.real else ["--no-real"],
            "{graph}": [part for folder in self.graph for part in ("--graph", str(folder.resolve()))],
            "{contexts}": ["--contexts", str((self.contexts or CONTEXTS).resolve())],
        }


class Step(NamedTuple):
    """A module with its arguments, and the file that holds this command once it was carried out.

    `reads` are the given files among the arguments: option and path.
    """

    command: tuple[str, ...]
    record: Path
    reads: tuple[tuple[str, str], ...] = ()

    @property
    def done(self) -> bool:
        """Whether this very command was carried out in this work folder."""
        return self._is_in(self.record)

    @property
    def begun(self) -> bool:
        """Whether this very command was begun in this work folder and did not come to its end."""
        return self._is_in(self._begun)

    def begin(self) -> None:
        """Note that it begins."""
        self._begun.write_text(shlex.join(self.command), encoding="utf-8")

    def end(self) -> None:
        """Note that it was carried out."""
        self._begun.replace(self.record)

    @property
    def _begun(self) -> Path:
        return self.record.with_suffix(".begun")

    def _is_in(self, record: Path) -> bool:
        return record.is_file() and record.read_text(encoding="utf-8") == shlex.join(self.command)


def recipes() -> list[str]:
    """Names of the adapters that can be trained."""
    return list(tomllib.loads(RECIPES.read_text(encoding="utf-8")))


def file_options(name: str) -> set[str]:
    """Which files the recipe of that name reads: ``questions``, ``graph``, ``contexts``."""
    recipe = tomllib.loads(RECIPES.read_text(encoding="utf-8"))[name]
    parts = {part for step in recipe["steps"] for part in step["run"]}
    return {placeholder.strip("{}") for placeholder in GivenFiles().arguments() if placeholder in parts}


def steps(name: str, work: Path, out: Path, files: GivenFiles, hold_out: str | None = None) -> list[Step]:
    """What makes the adapter of that name.

    Args:
        name: One of `recipes`.
        work: Folder of everything that is made on the way.
        out: The adapter's folder.
        files: What it is made from.
        hold_out: A fold (``0/2``) that is kept out of the training, to be measured on; ``none``: learn from everything;
            None: as the recipe says, which is how the shipped adapter was made.
    """
    recipe = tomllib.loads(RECIPES.read_text(encoding="utf-8"))[name]
    given = files.arguments()
    made = []
    fold = hold_out or recipe.get("hold_out", "none")
    for number, step in enumerate(recipe["steps"], start=1):
        command: list[str] = []
        reads: list[tuple[str, str]] = []
        for part in step["run"]:
            found = given.get(part, [part.replace("{work}", str(work)).replace("{out}", str(out))])
            command += found
            if part in given:
                reads += zip(found[::2], found[1::2], strict=False)  # --no-real has no path
        if command[0] == "training.lora" and fold != "none":
            command += ["--hold-out", fold]
        made.append(Step(tuple(command), work / f"step-{number}.done", tuple(reads)))
    return made
