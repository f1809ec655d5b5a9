"""What words mean: dates, names, numbers and units, reasoning over values."""
