"""Columns out of files that an earlier run wrote."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from polder_lab.complaint import Complaint
from polder_lab.heap import Heap
from polder_lab.mistakes.count import Count
from polder_lab.mistakes.matrix import KINDS, SCHEMA


@dataclass(frozen=True)
class Recorded:
    heaps: list[Heap]
    counts: dict[tuple[str, str], Count]  # by mistake and heap
    machine: dict[str, Any]


class Odd(Exception):
    """What is wrong with what was read, in words."""


def read(file: Path) -> Recorded:
    def unread(why: str) -> Complaint:
        return Complaint(f"{file}: no counts of mistakes can be read: {why}")

    try:
        told = json.loads(file.read_bytes())
    except OSError as why:
        raise unread(why.strerror or "it is not there") from why
    except (ValueError, RecursionError) as why:
        raise unread("it is no JSON") from why
    try:
        schema = told["schema"]
        if schema != SCHEMA:
            raise Complaint(f"{file}: its schema is {schema}, and {SCHEMA} is wanted")
        counts = {(one["mistake"], one["heap"]): Count(**{f.name: one[f.name] for f in fields(Count)}) for one in told["counts"]}
        found = Recorded([heap_of(entry) for entry in told["heaps"]], counts, dict(told["machine"]))
        check(found)
    except Odd as why:
        raise unread(str(why)) from why
    except KeyError as why:
        raise unread(f"it lacks '{why.args[0]}'") from why
    except (ValueError, TypeError, AttributeError) as why:
        raise unread("it is not as --json writes it") from why
    return found


NEEDED = ("cpu", "cores", "kernel", "distribution", "libc", "transparent_huge_pages", "commit", "uncommitted_changes")  # of a machine
TYPES = {"int": int, "str": str}


def check(found: Recorded) -> None:
    """What the matrix takes for granted."""
    parts: list[Heap | Count] = [*found.heaps, *found.counts.values()]
    for one in parts:
        for f in fields(one):
            if f.type in TYPES and type(value := getattr(one, f.name)) is not TYPES[f.type]:
                raise Odd(f"{f.name} is {value!r}")
    for count in found.counts.values():
        ways = [value for f in fields(count) if f.type == "int" and f.name != "runs" for value in [getattr(count, f.name)]]
        if min(ways) < 0 or sum(ways) > count.runs:
            raise Odd(f"of {count.runs} runs {', '.join(map(str, ways))} are told")
    for heap in found.heaps:
        if heap.kind not in KINDS:
            raise Odd(f"{heap.name} is of the kind '{heap.kind}'")
    if missing := [name for name in NEEDED if name not in found.machine]:
        raise Odd(f"the machine has no {', '.join(missing)}")
    if not isinstance(found.machine["commit"], str):
        raise Odd(f"the commit is {found.machine['commit']!r}")


def heap_of(entry: dict[str, Any]) -> Heap:
    known = {f.name: entry[f.name] for f in fields(Heap) if f.name in entry}
    return Heap(**{**known, "library": Path(entry["library"]) if entry["library"] else None,
                   "also": tuple(entry["also"]), "options": tuple(entry["options"]),
                   "settings": tuple((name, value) for name, value in entry["settings"])})
