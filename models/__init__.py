"""Model weights: which there are (`manifest`) and how they come here (`fetch`).

`user_config` is the name under which the 2024 evaluator looks for the agent.
"""
