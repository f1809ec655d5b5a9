"""What a submission needs before the push: checks, plans of time and memory, rehearsals."""
