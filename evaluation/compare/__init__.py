"""Two runs over the same questions: what one gains over the other, whether that is chance, and which answers differ."""
