"""What a program of the set says of itself."""

from __future__ import annotations

import glob
import re
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

ALL = frozenset({"compare", "bench"})
BENCH = frozenset({"bench"})  # takes too long for a comparison of five minutes, or shows little of malloc

HANDED_ON = "HANDED_ON_"  # job/clocked.py, which runs without this package, knows the word too


@dataclass(frozen=True)
class Job:
    """One command with its inputs in place."""

    command: list[str]
    stdin: str = "/dev/null"
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Program:
    name: str
    summary: str
    executables: tuple[str, ...]  # the first that is there is used
    package: str  # Debian's
    prepare: Callable[[str, Path, float], Job]  # executable, an empty folder, scale
    environment: Mapping[str, str] = field(default_factory=dict)
    clients: tuple[str, ...] = ()  # other programs that it takes, all of them
    sets: frozenset[str] = ALL  # to which it belongs; by name each one can be chosen
    clocks_itself: bool = False  # prints a line like a workload's: see job/clocked.py

    def executable(self) -> str | None:
        if not all(shutil.which(client) for client in self.clients):
            return None
        if self.executables == ("python3",):
            # The interpreter itself: what the name finds may be a wrapper of some version manager.
            return str(Path(sys.executable).resolve())
        return next((found for name in self.executables if (found := newest(name) if "/" in name else shutil.which(name))), None)


def newest(pattern: str) -> str | None:
    """Of several versions side by side, as Debian has them of PostgreSQL."""
    return max(glob.glob(pattern), key=lambda path: [int(number) for number in re.findall(r"\d+", path)], default=None)


def handed_on(settings: Mapping[str, str]) -> dict[str, str]:
    """Environment variables for the program that a job starts, under names by which they do nothing to the job's interpreter."""
    return {HANDED_ON + name: value for name, value in settings.items()}
