"""The agent under the name that the 2024 starter kit imports: `from models.user_config import UserModel`.

The 2025 kit imports `UserAgent` from `agents.user_config`. Both names mean the same class: one submission serves both.
"""

from agents.user_config import UserAgent

UserModel = UserAgent

__all__ = ["UserModel"]
