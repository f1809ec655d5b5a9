"""crag data ...: public questions and tables."""
