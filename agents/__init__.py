"""The folder that the evaluator loads: the agent (`user_config`) and the active preset. The code is in `crag/`."""
