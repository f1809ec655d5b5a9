"""Runs a command in a network like an evaluator's: `python worlds.py [--name HOST] [--no-loopback] COMMAND...`.

To be started by `unshare --net --uts --mount`, or in a container. Standard library only.
"""

import argparse
import fcntl
import os
import socket
import struct
import subprocess
import tempfile

SET_FLAGS = 0x8914
"""SIOCSIFFLAGS of linux/sockios.h."""
UP = 0x1 | 0x40
"""IFF_UP and IFF_RUNNING of linux/if.h."""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--name", help="the host's name, which resolves to 127.0.0.1 only")
    parser.add_argument("--no-loopback", action="store_true")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()

    if not options.no_loopback:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            fcntl.ioctl(any_socket, SET_FLAGS, struct.pack("16sh", b"lo", UP))

    if options.name:
        socket.sethostname(options.name)
        with tempfile.NamedTemporaryFile("w", delete=False) as hosts:
            hosts.write(f"127.0.0.1 localhost {options.name}\n")
        subprocess.run(["mount", "--bind", hosts.name, "/etc/hosts"], check=True)

    os.execvp(options.command[0], options.command)  # noqa: S606 - it takes this process's place


if __name__ == "__main__":
    main()
