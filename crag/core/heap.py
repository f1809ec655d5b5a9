"""Memory that a process has freed but still holds: glibc's heap. Without glibc these functions do nothing."""

import ctypes

_trim = getattr(ctypes.pythonapi, "malloc_trim", bool)
_set_option = getattr(ctypes.pythonapi, "mallopt", max)
_MMAP_THRESHOLD = -3
"""The option `M_MMAP_THRESHOLD` of malloc.h: from which size a block is mapped alone."""
_LARGE_BLOCK = 256 * 1024
"""In bytes."""


def map_large_blocks() -> None:
    """Map each large block alone from now on, so that the system has it back as soon as it is freed.

    glibc itself raises the limit to the largest block that was freed, at most 32 MB; then such blocks leave gaps in the
    heap, which stay this process's.
    """
    _set_option(_MMAP_THRESHOLD, _LARGE_BLOCK)


def trim_heap() -> None:
    """Give back what is free, which can be hundreds of megabytes."""
    _trim(0)
