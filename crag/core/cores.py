"""How many cores this process may use: a container often has fewer than its machine."""

import math
import os
from collections.abc import Iterator
from pathlib import Path

_OWN_GROUPS = Path("/proc/self/cgroup")
_GROUPS = Path("/sys/fs/cgroup")


def usable_cores() -> int:
    """The cores on which this process may run, or fewer if a control group leaves less time; at least 1.

    Half a core counts as one. `os.cpu_count` knows nothing of either.
    """
    cores = _allowed_cores()
    try:
        own_groups = _OWN_GROUPS.read_text(encoding="utf-8")
    except OSError:  # not mounted
        return cores
    return max(1, min([cores, *map(math.ceil, read_quotas(own_groups, _GROUPS))]))


def _allowed_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    # macOS ties no process to cores
    return os.cpu_count() or 1


def read_quotas(own_groups: str, groups: Path) -> Iterator[float]:
    """The limits, in cores, of a process's control groups and of those above them; none where there is no limit.

    Args:
        own_groups: The content of ``/proc/self/cgroup``.
        groups: Where the control groups are mounted. In a container the process's own may be at the top there, whatever
            it is called.
    """
    for line in own_groups.splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        # The second version has one hierarchy, the first one for each controller.
        top = groups / "cpu" if controllers else groups
        group = top / path.strip("/")
        for folder in (group, *group.parents):
            if folder.is_relative_to(top):
                yield from _read_quota(folder)


def _read_quota(group: Path) -> Iterator[float]:
    try:
        if (group / "cpu.max").is_file():
            quota, period = (group / "cpu.max").read_text(encoding="utf-8").split()
        else:
            quota = (group / "cpu.cfs_quota_us").read_text(encoding="utf-8")
            period = (group / "cpu.cfs_period_us").read_text(encoding="utf-8")
        # "max" and -1: no limit.
        if quota != "max" and int(quota) > 0:
            yield int(quota) / int(period)
    except (OSError, ValueError, ZeroDivisionError):
        return
