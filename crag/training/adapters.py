"""Runs the recipe that makes an adapter from labelled questions."""

BASE_PRESETS = {"kg_writer": "db3_task23", "kg_answerer": "db3_task23", "web_answerer": "db3_task1"}
"""The presets that db3's adapters are for."""
REFUSALS = "web_refusals"
"""The web answerer after preference tuning."""
READS_PAGES = ("web_answerer", REFUSALS)
"""Adapters that learn from web pages instead of the graph."""
PRESETS_BY_CONFIG = {"db3": BASE_PRESETS | {REFUSALS: "db3_task1"}, "cpu": {"kg_writer": "cpu"}}
"""Configuration of `crag train lora` -> adapter -> the preset that it is for."""
CHANGES_BY_CONFIG = {"db3": (), "cpu": ('knowledge_graph.writer.form="question"',)}
"""Configuration -> changes of the preset: a form that is served only with the adapter."""
