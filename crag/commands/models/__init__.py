"""crag models ...: fetch and convert weights."""
