"""The mistakes, as the built polder-mistakes tells them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from polder_lab import listing


@dataclass(frozen=True)
class Group:
    name: str
    title: str


@dataclass(frozen=True)
class Mistake:
    name: str
    group: str
    what: str
    harm: str  # what is observed when it succeeds


@dataclass(frozen=True)
class Catalogue:
    groups: tuple[Group, ...]
    mistakes: tuple[Mistake, ...]

    def chosen(self, words: Sequence[str]) -> Catalogue:
        kept = listing.chosen("mistake", words, self.mistakes)
        return Catalogue(self.groups, tuple(m for m in self.mistakes if m.name in kept))

    def in_groups(self) -> list[tuple[Group, list[Mistake]]]:
        """Those groups that have any."""
        grouped = [(group, [m for m in self.mistakes if m.group == group.name]) for group in self.groups]
        return [(group, members) for group, members in grouped if members]


def read(program: Path) -> Catalogue:
    told = listing.told(program, "mistakes")
    try:
        return Catalogue(tuple(Group(**group) for group in told["groups"]), tuple(Mistake(**mistake) for mistake in told["mistakes"]))
    except (KeyError, TypeError) as why:
        raise listing.not_told(program, "mistakes", why) from why
