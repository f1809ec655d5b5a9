"""The agent. Name your own one here: `models/user_config.py`, which the 2024 evaluator imports, takes it over."""

from crag.pipeline.user_agent import UserAgent

__all__ = ["UserAgent"]
