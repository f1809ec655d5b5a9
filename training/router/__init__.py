"""Trains the classifiers of questions that `agents.questions` runs: `python -m training.router --config cpu`."""
