"""Converts the files of the official server (`cragkg`) to our tables.

They are read without pandas, and without running code from pickles.
"""
