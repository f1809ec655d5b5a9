"""crag train ...: train what the presets use."""
