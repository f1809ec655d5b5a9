"""The steps of recipes.toml with folders, files and choices filled in, and which of them are done."""

import shlex
import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from training.api_pairs import QUESTIONS
from training.reading_pages import READING
from training.segments import DEFAULT_FILE as CONTEXTS

RECIPES = Path(__file__).with_name("recipes.toml")
DEFAULT_CONFIG = "cpu_small"


class GivenFiles(NamedTuple):
    """The user's training files; None, or no graph, means the defaults of the steps.

    `real` is False if `questions` must not be used.
    """

    questions: Path | None = None
    graph: tuple[Path, ...] = ()
    contexts: Path | None = None
    pages: Path | None = None
    reading: Path | None = None
    real: bool = True

    def arguments(self) -> dict[str, list[str]]:
        """The options and paths for each placeholder of a recipe."""
        questions = str((self.questions or QUESTIONS).resolve())
        return {
            "{questions}": ["--questions", questions] if self.real else ["--no-real"],
            "{asked}": ["--dataset", questions],
            "{graph}": [part for folder in self.graph for part in ("--graph", str(folder.resolve()))],
            "{mock_kg}": ["--mock-kg", *(str(folder.resolve()) for folder in self.graph[:1])],
            "{contexts}": ["--contexts", str((self.contexts or CONTEXTS).resolve())],
            "{pages}": ["--dataset", str(self.pages.resolve()) if self.pages else ""],
            "{reading}": ["--reading", str((self.reading or READING).resolve())],
        }


class Choices(NamedTuple):
    """What can be chosen besides the files.

    Args:
        preset: Name or TOML file of the preset with prompts, examples and model; None: the recipe's.
        preset_hash: Hash of the preset: steps that read the preset run again if it changes.
        base: The preset's model, if the recipe's configuration has another.
        device: ``cpu`` or ``cuda`` (one GPU) for all models; None: as preset and configuration say.
        judge: Arguments of training.labels for its judge.
        split: Split of the questions, ``any`` for all.
        limit: Most real questions.
        max_steps: Most steps of the tuning.
        hold_out: A fold (``1/2``) to hold out and measure on; ``none``: learn from everything; None: as the recipe
            says, like the shipped adapter.
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
        """The options for each placeholder of a recipe."""
        one_device = {"cpu": "cpu", "cuda": "cuda:0", None: None}[self.device]
        unquantised = ["--set", "quantise=none"] if self.device == "cpu" else []
        return {
            "{preset}": ["--preset", self.preset or ""],
            "{base}": ["--set", f'base="{self.base}"'] if self.base else [],
            "{judge}": list(self.judge),
            "{split}": [] if self.split == "0" else ["--split", self.split],
            "{run_split}": ["--split", self.split],
            "{limit}": [] if self.limit is None else ["--limit", str(self.limit)],
            "{max_steps}": [] if self.max_steps is None else ["--max-steps", str(self.max_steps)],
            "{run_device}": ["--set", f'device="{one_device}"'] if one_device else [],
            "{lora_device}": ["--device", self.device, *unquantised] if self.device else [],
        }


class RecipeStep(NamedTuple):
    """A module with its arguments, and the file that records the finished command.

    `reads` are the given files among the arguments: option of `training.adapters` and path. `preset_hash` changes with
    the preset among the arguments.
    """

    command: tuple[str, ...]
    record: Path
    reads: tuple[tuple[str, str], ...] = ()
    preset_hash: str = ""

    @property
    def done(self) -> bool:
        """Whether this exact command has finished in this work folder."""
        return self._is_in(self.record)

    @property
    def begun(self) -> bool:
        """Whether this exact command has started but not finished in this work folder."""
        return self._is_in(self._begun)

    def begin(self) -> None:
        """Record the start."""
        self._begun.write_text(self._text, encoding="utf-8")

    def end(self) -> None:
        """Record the end."""
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
    "{reading}": "--reading",
}
"""The option of `training.adapters` that fills a placeholder."""


@dataclass(frozen=True)
class Recipe:
    """A table ``[CONFIG.NAME]`` of recipes.toml."""

    name: str
    config: str = DEFAULT_CONFIG

    @cached_property
    def table(self) -> dict[str, Any]:
        """`description` and `steps`; optional: `base_preset`, `hold_out`, `needs`."""
        found: dict[str, Any] = _read()[self.config][self.name]
        return found

    @property
    def base_preset(self) -> str | None:
        """The preset that the adapter is for."""
        found: str | None = self.table.get("base_preset")
        return found

    @property
    def tuning(self) -> str:
        """The configuration of `training.lora`."""
        last: list[str] = self.table["steps"][-1]["run"]
        return last[last.index("--config") + 1]

    @property
    def files(self) -> set[str]:
        """The files that it reads: ``questions``, ``graph``, ``contexts``, ``pages``, ``reading``."""
        parts = {part for step in self.table["steps"] for part in step["run"]}
        return {option.removeprefix("--") for placeholder, option in _OPTIONS.items() if placeholder in parts}

    def steps(self, work: Path, out: Path, files: GivenFiles, choices: Choices | None = None) -> list[RecipeStep]:
        """The commands, in order; intermediate files go to `work`, the adapter to `out`."""
        chosen = choices or Choices()
        chosen = chosen._replace(preset=chosen.preset or self.base_preset)
        given = files.arguments() | chosen.arguments()
        fold = chosen.hold_out or self.table.get("hold_out", "none")
        made = []
        for number, step in enumerate(self.table["steps"], start=1):
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
            made.append(RecipeStep(tuple(command), work / f"step-{number}.done", tuple(reads), preset_hash))
        return made


def configs() -> list[str]:
    """Names of the recipe sets."""
    return list(_read())


def recipes(config: str | None = None) -> list[str]:
    """Names of the adapters that can be trained, of one set or of all."""
    return list(dict.fromkeys(name for key, found in _read().items() if config in {None, key} for name in found))


def _read() -> dict[str, dict[str, Any]]:
    return tomllib.loads(RECIPES.read_text(encoding="utf-8"))
