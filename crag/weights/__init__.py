"""Weights: the list of models, their download, and the small trained files that ship."""
