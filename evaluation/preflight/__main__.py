"""`python -m evaluation.preflight`: see `crag.preflight`."""

from crag.command import end_with
from crag.preflight import main

if __name__ == "__main__":
    end_with(main)
