"""What the 2024 evaluator imports: `from models.user_config import UserModel`, the agent of `agents/user_config.py`.

CRAG-MM, the challenge of 2025 about images, is not supported: its evaluator calls `batch_generate_response`.
"""

from agents.user_config import UserAgent as UserModel

__all__ = ["UserModel"]
