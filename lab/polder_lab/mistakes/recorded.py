"""Columns out of files that an earlier run wrote."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from polder_lab.complaint import Complaint
from polder_lab.heap import Heap
from polder_lab.mistakes.count import Count
from polder_lab.mistakes.matrix import SCHEMA


@dataclass(frozen=True)
class Recorded:
    heaps: list[Heap]
    counts: dict[tuple[str, str], Count]  # by mistake and heap
    machine: dict[str, Any]


def read(file: Path) -> Recorded:
    try:
        told = json.loads(file.read_text())
        if told["schema"] != SCHEMA:
            raise Complaint(f"{file}: its schema is {told['schema']}, and {SCHEMA} is wanted")
        counts = {(one["mistake"], one["heap"]): Count(**{f.name: one[f.name] for f in fields(Count)}) for one in told["counts"]}
        return Recorded([heap_of(entry) for entry in told["heaps"]], counts, dict(told["machine"]))
    except (OSError, ValueError, KeyError, TypeError) as why:
        raise Complaint(f"{file}: no counts of mistakes can be read: {why}") from why


def heap_of(entry: dict[str, Any]) -> Heap:
    known = {f.name: entry[f.name] for f in fields(Heap) if f.name in entry}
    return Heap(**{**known, "library": Path(entry["library"]) if entry["library"] else None,
                   "also": tuple(entry["also"]), "options": tuple(entry["options"]),
                   "settings": tuple((name, value) for name, value in entry["settings"])})
