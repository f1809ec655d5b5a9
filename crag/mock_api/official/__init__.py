"""Converts the files of the official server (`cragkg`) to our tables, without running code from pickles."""
