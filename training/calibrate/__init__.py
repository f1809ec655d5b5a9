"""From finished runs to P(correct): how likely an answer is to be right, and whether to give it."""
