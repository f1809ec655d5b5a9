"""The agent (`user_config`) and the active preset of a submission. The code is in `crag/`."""
