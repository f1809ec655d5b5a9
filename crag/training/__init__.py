"""Trains the small models that the agent ships: question classifiers, answer calibration, LoRA adapters."""
