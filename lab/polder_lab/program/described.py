"""What a program of the set says of itself."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path


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

    def executable(self) -> str | None:
        if self.executables == ("python3",):
            # The interpreter itself: what the name finds may be a wrapper of some version manager.
            return str(Path(sys.executable).resolve())
        return next((found for name in self.executables if (found := shutil.which(name))), None)
