"""Run the agent over a question file as the real evaluator does, and print the CRAG metrics: see --help."""

import sys
from pathlib import Path

if __name__ == "__main__":  # the agent's process reads this file too, and needs nothing of it
    try:
        from crag.commands.ending import end_with
        from crag.commands.evaluate import main
    except ModuleNotFoundError as error:
        sys.exit(f"error: {error}: this Python lacks the packages. `make install` makes .venv: use .venv/bin/python")
    sys.path.append(str(Path.cwd()))  # so that --agent finds a module in the folder where the user stands
    end_with(main)
