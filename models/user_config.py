"""The agent under the name in the 2024 starter kit: `from models.user_config import UserModel`.

The 2025 kit imports `UserAgent` from `agents.user_config`. Both names are the same class: one submission serves both.
"""

from agents.user_config import UserAgent

UserModel = UserAgent

__all__ = ["UserModel"]
