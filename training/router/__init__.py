"""Trains the question classifiers that `agents.questions` runs: `python -m training.router --config cpu`."""
