"""What the 2024 evaluator imports: `from models.user_config import UserModel`; `agents.user_config` has the same class.

CRAG-MM, the challenge of 2025 about images, is not supported: its evaluator calls `batch_generate_response`.
"""

from crag.pipeline.user_agent import UserAgent as UserModel

__all__ = ["UserModel"]
