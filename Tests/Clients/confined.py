"""Runs a command with the system calls that a unit of systemd leaves it, where no systemd is running.

    confined.py UNIT COMMAND...

Needs Debian's systemd, whose systemd-analyze knows the sets of calls, and python3-seccomp.
"""

import os
import pathlib
import subprocess
import sys

import seccomp


def calls(name):
    """The calls of a set; of a call, itself."""
    if not name.startswith("@"):
        return {name}
    printed = subprocess.run(
        ["systemd-analyze", "syscall-filter", name], check=True, capture_output=True, text=True
    ).stdout
    lines = [line.strip() for line in printed.splitlines()[1:]]
    return set().union(*(calls(line) for line in lines if line and line[0] != "#"))


def allowed(unit):
    found = set()
    for line in pathlib.Path(unit).read_text().splitlines():
        key, _, value = line.partition("=")
        if key != "SystemCallFilter":
            continue
        named = set().union(*(calls(name) for name in value.removeprefix("~").split()))
        found = found - named if value.startswith("~") else found | named
    # What systemd leaves every service.
    return found | calls("@default")


def main():
    unit, *command = sys.argv[1:]
    rules = seccomp.SyscallFilter(seccomp.KILL_PROCESS)
    for name in sorted(allowed(unit)):
        try:
            rules.add_rule(seccomp.ALLOW, name)
        except (RuntimeError, ValueError):
            pass  # A call of other processors.
    rules.load()
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
