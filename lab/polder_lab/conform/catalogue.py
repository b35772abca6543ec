"""The probes, as the built polder-probe tells them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from polder_lab import listing


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
        kept = listing.chosen("probe", words, self.probes)
        return Catalogue(self.groups, tuple(p for p in self.probes if p.name in kept))


def read(program: Path) -> Catalogue:
    told = listing.told(program, "probes")
    try:
        return Catalogue(tuple(Group(**group) for group in told["groups"]), tuple(Probe(**probe) for probe in told["probes"]))
    except (KeyError, TypeError) as why:
        raise listing.not_told(program, "probes", why) from why
