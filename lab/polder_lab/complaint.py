"""Errors that are the user's to mend: one message, exit status 2, no traceback."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class Complaint(Exception):
    """What is wrong and, where it can be said, what to type instead."""


def nearest(word: str, names: Iterable[str], at_most: int = 3) -> list[str]:
    """The names most like word, best first: those that contain it, then those spelt like it, else simply the first."""
    known = list(dict.fromkeys(names))
    lowered = word.lower()
    inside = [name for name in known if lowered and (lowered in name.lower() or name.lower() in lowered)]
    alike = difflib.get_close_matches(lowered, known, n=at_most, cutoff=0.4)
    found = list(dict.fromkeys(inside + alike))
    return (found or known)[:at_most]


def unknown(kind: str, word: str, names: Iterable[str]) -> Complaint:
    known = list(names)
    if not known:
        return Complaint(f"there is no {kind} '{word}'; there is none at all")
    return Complaint(f"there is no {kind} '{word}'; nearest: {', '.join(nearest(word, known))}")
