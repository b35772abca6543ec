#!/usr/bin/env python3
"""check_orders [ROOT] — every memory order stronger than relaxed names its edge, and every edge has two ends.

    head_.store(p, order::release);   // sync: stack-push
    head_.load(order::acquire);       // sync: stack-push, other-edge; any remark

The comment stands on one of the statement's lines or on the line before. A name must occur where something is released
and where something is acquired. The names of std's orders are for sync/atomic.hpp and sync/double_word.hpp alone.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

from tree import ROOT, end, is_library, library_files

ORDER = re.compile(r"\border::(acquire|release|acq_rel|seq_cst)\b")
SYNC = re.compile(r"//\s*sync:\s*(.*)$")
NAME = re.compile(r"^\s*([a-z][a-z0-9]*(?:-[a-z0-9]+)*)\s*(?::.*)?$")
BARE = re.compile(r"\bstd::(atomic\b|atomic_ref|memory_order|atomic_thread_fence)|\b__atomic_|\b__sync_")
NOT_CHECKED = ("sync/atomic.hpp", "sync/atomic_model.hpp", "sync/double_word.hpp", "sync/double_word_model.hpp")
ACQUIRES = {"acquire", "acq_rel", "seq_cst"}
RELEASES = {"release", "acq_rel", "seq_cst"}


def code_of(line: str) -> str:
    return line.split("//")[0]


def names_of(lines: list[str]) -> list[str]:
    names = []
    for line in lines:
        if found := SYNC.search(line):
            names += [m.group(1) for piece in re.split("[,;]", found.group(1)) if (m := NAME.match(piece))]
    return names


def statement(lines: list[str], at: int) -> tuple[int, int]:
    """First and last line of the statement that line `at` belongs to."""
    def closes(line: str) -> bool:
        code = code_of(line).strip()
        return not code or code[-1] in ";{}:" or code.startswith("#")

    first = last = at
    while first > 0 and not closes(lines[first - 1]):
        first -= 1
    while last + 1 < len(lines) and not closes(lines[last]):
        last += 1
    return first, last


def check(root: Path) -> tuple[int, list[str]]:
    base = root / "src" / "polder"
    troubles: list[str] = []
    ends: dict[str, set[str]] = defaultdict(set)
    where: dict[str, str] = {}
    count = 0
    for path in filter(is_library, library_files(root)):
        inside = str(path.relative_to(base))
        if inside in NOT_CHECKED:
            continue
        lines = path.read_text().splitlines()
        for at, line in enumerate(lines):
            place = f"src/polder/{inside}:{at + 1}"
            if bare := BARE.search(code_of(line)):
                troubles.append(f"{place}: {bare.group(0)} is for sync/atomic.hpp alone")
            orders = set(ORDER.findall(code_of(line)))
            if not orders:
                continue
            count += 1
            first, last = statement(lines, at)
            before = lines[first - 1:first] if first > 0 and lines[first - 1].strip().startswith("//") else []
            names = names_of(before + lines[first:last + 1])
            if not names:
                troubles.append(f"{place}: order::{'/'.join(sorted(orders))} names no edge (// sync: name)")
            for name in names:
                where.setdefault(name, place)
                ends[name] |= ({"acquired"} if orders & ACQUIRES else set()) | ({"released"} if orders & RELEASES else set())
    for name, kinds in sorted(ends.items()):
        for missing in sorted({"acquired", "released"} - kinds):
            troubles.append(f"{where[name]}: the edge '{name}' is never {missing}")
    return count, troubles


if __name__ == "__main__":
    looked_at, found = check(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT)
    sys.exit(end("check_orders", looked_at, "orders", found))
