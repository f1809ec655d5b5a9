"""What the 2024 evaluator imports: `from models.user_config import UserModel`.

The 2025 kit imports `UserAgent` from `agents.user_config`. Both names are the same class: one submission serves both.
"""

from crag.pipeline.user_agent import UserAgent as UserModel

__all__ = ["UserModel"]
