"""The files of the official server (`cragkg`) -> our tables.

They are read without pandas, and without running what a pickle asks for.
"""
