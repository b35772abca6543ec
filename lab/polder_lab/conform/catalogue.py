"""The probes, as the built polder-probe tells them."""

from __future__ import annotations

import fnmatch
import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from polder_lab.complaint import Complaint, unknown


@dataclass(frozen=True)
class Group:
    name: str
    title: str
    demanded: bool  # by a standard or a manual; else a failure is told and not counted


@dataclass(frozen=True)
class Probe:
    name: str
    group: str
    demand: str
    source: str
    mistake: str  # the one that the test of this probe makes
    seconds: float  # after which it counts as hanging


@dataclass(frozen=True)
class Catalogue:
    groups: tuple[Group, ...]
    probes: tuple[Probe, ...]

    def group(self, probe: Probe) -> Group:
        return next(group for group in self.groups if group.name == probe.group)

    def chosen(self, words: Sequence[str]) -> Catalogue:
        """The probes named, or in a group named, or matching a pattern (* ?); all, where no word is given."""
        if not words:
            return self
        kept: set[str] = set()
        for word in words:
            found = {p.name for p in self.probes if word == p.group or fnmatch.fnmatchcase(p.name, word)}
            if not found:
                raise unknown("probe", word, [*(p.name for p in self.probes), *(g.name for g in self.groups)])
            kept |= found
        return Catalogue(self.groups, tuple(p for p in self.probes if p.name in kept))


def read(program: Path) -> Catalogue:
    if not program.exists():
        raise Complaint(f"the probes are not built: {program} is missing")
    try:
        told = json.loads(subprocess.run([program, "list", "--json"], capture_output=True, text=True, timeout=20, check=True).stdout)
        return Catalogue(tuple(Group(**group) for group in told["groups"]), tuple(Probe(**probe) for probe in told["probes"]))
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError) as why:
        raise Complaint(f"{program} does not tell its probes: {why}") from why
