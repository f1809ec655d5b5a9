"""Runs the recipe that makes an adapter from labelled questions."""

BASE_PRESETS = {"kg_writer": "db3_task23", "kg_answerer": "db3_task23", "web_answerer": "db3_task1"}
