"""What a rival says of itself."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Inside:
    """The allocator's version stands in one of the crate's files."""

    file: str
    pattern: str


@dataclass(frozen=True)
class Crate:
    """A published crate with the allocator's C or C++ sources in it. The peer's name is the feature that asks for it."""

    name: str
    version: str | Inside  # the allocator's: a pattern in the crate's version, or where it stands
    flags: str = ""  # for its compiler, after its own
    names: Mapping[str, str] = field(default_factory=dict)  # of functions that it exports by another name than malloc's

    def allocator_version(self, crate_version: str, sources: Path) -> str:
        """"" where it cannot be found: a version is told, never needed."""
        if isinstance(self.version, str):
            found = re.search(self.version, crate_version)
        else:
            file = sources / self.version.file
            found = re.search(self.version.pattern, file.read_text(errors="replace"), re.MULTILINE) if file.exists() else None
        return dotted(found[1]) if found else ""


def dotted(version: str) -> str:
    """mimalloc writes 30302 for 3.3.2."""
    if re.fullmatch(r"[1-9]\d{4}", version):
        number = int(version)
        return f"{number // 10000}.{number // 100 % 100}.{number % 100}"
    return version


@dataclass(frozen=True)
class Peer:
    name: str
    title: str
    year: str
    summary: str
    crate: Crate | None = None
    package: str = ""  # Debian's; a|b: the first that this release has
    files: tuple[str, ...] = ()  # of that package, the best first
    also: tuple[str, ...] = ()  # names by which it is found as well
    settings: tuple[tuple[str, str], ...] = ()  # environment variables that it is meant to run with
    secure: str = ""  # what makes it look for a program's mistakes, where that is what it is for
    secure_of: str = ""  # the rival of which it is a build that does so: asked for by name only
