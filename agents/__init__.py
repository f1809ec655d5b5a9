"""Everything that answers a question. The evaluator imports `agents.user_config`; readers start at `crag_agent`."""
