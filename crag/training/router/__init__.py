"""Trains the question classifiers that `crag.router` runs: `crag train router --config cpu`."""
