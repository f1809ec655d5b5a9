"""Fetch the weights of a preset or of single models: `crag models fetch cpu`.

The lines of $CRAG_SETTINGS change the presets, as for the commands that ask. Adapters, classifiers and calibrations
are trained, not fetched: how to make a missing one is printed. Each file comes from the hub, else from the mirror; only
bytes with the pinned sha256 are kept. A model's folder appears in one step when it is complete, and an interrupted
download continues in the next run.
"""

import argparse
import logging
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from crag.commands.command_line import command, parser_of, read_changed_preset
from crag.weights.fetch import downloads_folder, fetch_lock, fetch_model, is_here, resolve, verification_problem
from crag.weights.manifest import Group, cache_folder, find, load_manifest
from crag.weights.preset_files import available_presets
from crag.weights.sources import FetchError


@command(ValueError)
def main(arguments: Sequence[str] | None = None) -> int:
    """Command line of `crag models fetch`; returns the exit code."""
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
    options = _parse(arguments)
    if options.list:
        _print_list()
        return 0

    models, folders = resolve(options.names, read_changed_preset)
    if options.verify:
        failed = _verify_all(models, options.to)
    else:
        failed = _fetch_all(models, options.to, float16=options.float16)

    untrained = dict.fromkeys(folder.problem for folder in folders if folder.problem)  # each once
    for problem in untrained:
        print(f"cannot be fetched: {problem}", file=sys.stderr)
    return 1 if failed or (options.verify and untrained) else 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    presets = ", ".join(available_presets())
    groups = ", ".join(load_manifest().groups)
    parser = parser_of(
        "crag models fetch",
        __doc__,
        "Exit code: 0 every required model is here and verified; 1 at least one is not; 2 wrong arguments or cache.",
    )
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME|PRESET",
        help=f"models; presets with all their models: {presets}, or a preset's .toml; or groups: {groups}",
    )

    parser.add_argument(
        "--list",
        action="store_true",
        help="show presets and models, and which models are here",
    )

    parser.add_argument(
        "--verify",
        action="store_true",
        help="check the sha256 of local files; download nothing",
    )

    parser.add_argument(
        "--to",
        type=Path,
        default=cache_folder(),
        metavar="DIR",
        help="folder for the models, one folder each (default: the cache)",
    )

    parser.add_argument(
        "--float16",
        action="store_true",
        help="of a model that is kept as int8 also the weights for other engines and for training",
    )

    options = parser.parse_args(arguments)
    if not (options.names or options.list):
        parser.error("name at least one preset or model, or use --list")
    return options


def _print_list() -> None:
    """Presets and groups with their models, then all models."""
    users: dict[str, list[str]] = {}
    for title in (*available_presets(), *load_manifest().groups):
        group, _ = resolve([title])
        for name in (*group.models, *group.optional):
            users.setdefault(name, []).append(title)
        optional = f" (optional: {', '.join(group.optional)})" if group.optional else ""
        print(f"{title:12} {', '.join(group.models) or '-'}{optional}")

    print()
    for name, entry in load_manifest().models.items():
        state = "here" if find(name).problem is None else "-"
        size = sum(file.size for file in entry.files)
        size_text = f"{size / 1e6:.0f} MB" if size else "hub only"
        used_by = f"; used by {', '.join(users[name])}" if name in users else ""
        print(f"{name:30} {state:5} {size_text:>9}  {entry.licence}; {entry.role}{used_by}")


def _verify_all(group: Group, root: Path) -> list[str]:
    """Check the local files and return the models that are missing or damaged; optional ones may be missing."""
    failed: list[str] = []
    # An optional model is checked only if it is here
    present = [name for name in group.optional if (root / name).is_dir()]
    for name in (*group.models, *present):
        problem = verification_problem(load_manifest().model(name), root / name)
        if problem:
            failed.append(name)
        print(f"{name}: {problem or 'verified'}")
    return failed


def _fetch_all(group: Group, root: Path, *, float16: bool) -> list[str]:
    """Fetch all and return the required models that could not be fetched."""
    missing: list[str] = []
    for name in (*group.models, *group.optional):
        # What is there needs no lock: the cache may be another user's, or on a file system that cannot be written.
        if is_here(name, root, float16=float16):
            print(f"{name}: already here ({root / name})")
        else:
            missing.append(name)
    if not missing:
        return []

    failed: list[str] = []
    with fetch_lock():
        for name in missing:
            try:
                fetch_model(name, root, float16=float16)
            except FetchError as error:
                is_required = name in group.models
                if is_required:
                    failed.append(name)
                print(f"{'ERROR' if is_required else 'optional, not fetched'}: {error}", file=sys.stderr)

        if not failed:  # else the archives stay for the next run
            shutil.rmtree(downloads_folder(), ignore_errors=True)
    return failed
