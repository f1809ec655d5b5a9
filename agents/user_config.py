"""The agent: `from agents.user_config import UserAgent`. The 2024 evaluator imports it from `models.user_config`."""

from crag.pipeline.user_agent import UserAgent

__all__ = ["UserAgent"]
