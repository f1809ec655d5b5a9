"""How many cores this process may use."""

import os


def usable_cores() -> int:
    """Fewer than the machine has if `taskset` or a container allows fewer."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    # macOS ties no process to cores
    return os.cpu_count() or 1
