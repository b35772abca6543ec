"""What a program of the build tells of what it can do, and the choice of some of it by name, pattern or group."""

from __future__ import annotations

import fnmatch
import json
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

from polder_lab.complaint import Complaint, unknown


class Listed(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def group(self) -> str: ...


def told(program: Path, what: str) -> dict[str, list[dict[str, Any]]]:
    if not program.exists():
        raise Complaint(f"the {what} are not built: {program} is missing")
    try:
        done = subprocess.run([program, "list", "--json"], capture_output=True, text=True, timeout=20, check=True)
        listed: dict[str, list[dict[str, Any]]] = {str(key): list(entries) for key, entries in json.loads(done.stdout).items()}
        return listed
    except (OSError, subprocess.SubprocessError, ValueError, TypeError, AttributeError) as why:
        raise not_told(program, what, why) from why


def not_told(program: Path, what: str, why: Exception) -> Complaint:
    return Complaint(f"{program} does not tell its {what}: {why}")


def chosen(kind: str, words: Sequence[str], entries: Iterable[Listed]) -> set[str]:
    """The names of those that are named, are in a group named, or match a pattern (* ?); all, where no word is given."""
    known = list(entries)
    if not words:
        return {entry.name for entry in known}
    kept: set[str] = set()
    for word in words:
        found = {entry.name for entry in known if word == entry.group or fnmatch.fnmatchcase(entry.name, word)}
        if not found:
            raise unknown(kind, word, [*(entry.name for entry in known), *(entry.group for entry in known)])
        kept |= found
    return kept
