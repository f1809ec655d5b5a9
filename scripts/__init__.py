"""Small commands for whoever prepares a submission; standard library only."""
