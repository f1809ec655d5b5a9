"""What the 2025 evaluator imports: `from agents.user_config import UserAgent`."""

from crag.pipeline.user_agent import UserAgent

__all__ = ["UserAgent"]
