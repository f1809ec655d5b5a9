"""The command `crag`: one door to what this package can do in a terminal. Each command lives in its own room."""
