"""crag index ...: the kept indexes of pages."""
