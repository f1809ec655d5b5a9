"""How an adapter is made: the steps of recipes.toml with folders, files and choices put in, and which are done."""

import shlex
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

from training.api_pairs.__main__ import QUESTIONS
from training.segments import DEFAULT_FILE as CONTEXTS

RECIPES = Path(__file__).with_name("recipes.toml")
DEFAULT_CONFIG = "cpu"


class GivenFiles(NamedTuple):
    """What the user has to learn from; None and no graph: the defaults of the steps.

    Without `real`, nothing is learnt from `questions`.
    """

    questions: Path | None = None
    graph: tuple[Path, ...] = ()
    contexts: Path | None = None
    pages: Path | None = None
    real: bool = True

    def arguments(self) -> dict[str, list[str]]:
        """What stands for each placeholder of a recipe: an option and a path, several times or not at all."""
        questions = str((self.questions or QUESTIONS).resolve())
        return {
            "{questions}": ["--questions", questions] if self.real else ["--no-real"],
            "{asked}": ["--dataset", questions],
            "{graph}": [part for folder in self.graph for part in ("--graph", str(folder.resolve()))],
            "{mock_kg}": ["--mock-kg", *(str(folder.resolve()) for folder in self.graph[:1])],
            "{contexts}": ["--contexts", str((self.contexts or CONTEXTS).resolve())],
            "{pages}": ["--dataset", str(self.pages.resolve()) if self.pages else ""],
        }


class Choices(NamedTuple):
    """What of a recipe can be chosen besides its files.

    Args:
        preset: Whose prompts, examples and model; a name or a TOML file. None: the recipe's.
        preset_hash: Changes with anything that the preset says: steps that read it are done again.
        base: The preset's model, where it is not that of the recipe's configuration.
        device: ``cpu`` or ``cuda`` (one GPU) for all models; None: each where preset and configuration say.
        judge: Arguments of training.labels that say who judges and looks into contexts.
        split: Of the questions, ``any`` for all.
        limit: At most so many real questions.
        max_steps: Of the tuning.
        hold_out: A fold (``1/2``) that is kept out of the training, to be measured on; ``none``: learn from everything;
            None: as the recipe says, which is how the shipped adapter was made.
    """

    preset: str | None = None
    preset_hash: str = ""
    base: str | None = None
    device: str | None = None
    judge: tuple[str, ...] = ()
    split: str = "0"
    limit: int | None = None
    max_steps: int | None = None
    hold_out: str | None = None

    def arguments(self) -> dict[str, list[str]]:
        """What stands for each placeholder of a recipe."""
        whole = {"cpu": "cpu", "cuda": "cuda:0", None: None}[self.device]
        in_full = ["--set", "quantise=none"] if self.device == "cpu" else []
        return {
            "{preset}": ["--preset", self.preset or ""],
            "{base}": ["--set", f'base="{self.base}"'] if self.base else [],
            "{judge}": list(self.judge),
            "{split}": [] if self.split == "0" else ["--split", self.split],
            "{run_split}": ["--split", self.split],
            "{limit}": [] if self.limit is None else ["--limit", str(self.limit)],
            "{max_steps}": [] if self.max_steps is None else ["--max-steps", str(self.max_steps)],
            "{run_device}": ["--set", f'device="{whole}"'] if whole else [],
            "{lora_device}": ["--device", self.device, *in_full] if self.device else [],
        }


AS_SHIPPED = Choices()


class Step(NamedTuple):
    """A module with its arguments, and the file that holds this command once it was carried out.

    `reads` are the given files among the arguments: option of `training.adapters` and path. `preset_hash` stands for
    what the preset among the arguments says.
    """

    command: tuple[str, ...]
    record: Path
    reads: tuple[tuple[str, str], ...] = ()
    preset_hash: str = ""

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
        self._begun.write_text(self._text, encoding="utf-8")

    def end(self) -> None:
        """Note that it was carried out."""
        self._begun.replace(self.record)

    @property
    def _begun(self) -> Path:
        return self.record.with_suffix(".begun")

    def _is_in(self, record: Path) -> bool:
        return record.is_file() and record.read_text(encoding="utf-8") == self._text

    @property
    def _text(self) -> str:
        return shlex.join(self.command) + (f"\n# preset {self.preset_hash}" if self.preset_hash else "")


_OPTIONS = {
    "{questions}": "--questions",
    "{asked}": "--questions",
    "{graph}": "--graph",
    "{mock_kg}": "--graph",
    "{contexts}": "--contexts",
    "{pages}": "--pages",
}
"""Which option of `training.adapters` a placeholder's file comes from."""


def configs() -> list[str]:
    """Names of the sets of recipes."""
    return list(_read())


def recipes(config: str | None = None) -> list[str]:
    """Names of the adapters that can be trained, of one set or of all."""
    return list(dict.fromkeys(name for key, found in _read().items() if config in {None, key} for name in found))


def recipe_of(name: str, config: str = DEFAULT_CONFIG) -> dict[str, Any]:
    """The table of a recipe: `description`, `steps`, where there are any `base_preset`, `hold_out`, `needs`."""
    found: dict[str, Any] = _read()[config][name]
    return found


def file_options(name: str, config: str = DEFAULT_CONFIG) -> set[str]:
    """Which files the recipe of that name reads: ``questions``, ``graph``, ``contexts``, ``pages``."""
    parts = {part for step in recipe_of(name, config)["steps"] for part in step["run"]}
    return {option.removeprefix("--") for placeholder, option in _OPTIONS.items() if placeholder in parts}


def steps(
    name: str, work: Path, out: Path, files: GivenFiles, choices: Choices = AS_SHIPPED, config: str = DEFAULT_CONFIG
) -> list[Step]:
    """What makes the adapter of that name.

    Args:
        name: One of `recipes`.
        work: Folder of everything that is made on the way.
        out: The adapter's folder.
        files: What it is made from.
        choices: How.
        config: One of `configs`.
    """
    recipe = recipe_of(name, config)
    chosen = choices._replace(preset=choices.preset or recipe.get("base_preset"))
    given = files.arguments() | chosen.arguments()
    fold = choices.hold_out or recipe.get("hold_out", "none")
    made = []
    for number, step in enumerate(recipe["steps"], start=1):
        command: list[str] = []
        reads: list[tuple[str, str]] = []
        for part in step["run"]:
            found = given.get(part, [part.replace("{work}", str(work)).replace("{out}", str(out))])
            command += found
            if part in _OPTIONS:
                reads += [(_OPTIONS[part], path) for path in found if not path.startswith("--")]
        if command[0] == "training.lora" and fold != "none":
            command += ["--hold-out", fold]
        preset_hash = chosen.preset_hash if "{preset}" in step["run"] else ""
        made.append(Step(tuple(command), work / f"step-{number}.done", tuple(reads), preset_hash))
    return made


def _read() -> dict[str, dict[str, Any]]:
    return tomllib.loads(RECIPES.read_text(encoding="utf-8"))
