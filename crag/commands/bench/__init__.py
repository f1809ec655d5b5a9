"""crag bench ...: the measurements behind published figures."""
