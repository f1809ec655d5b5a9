"""The command line: one file a command, beside what several of them share. Only entry points import it."""
