"""crag inspect ...: what a step of the pipeline makes of your input."""
