"""What all packages share: the values that they exchange, reading and cleaning of input, files, the clock."""
