#!/usr/bin/env python3
"""check_orders [ROOT] — every memory order stronger than relaxed names its edge, and every edge has two ends.

    head_.store(p, order::release);   // sync: stack-push
    head_.load(order::acquire);       // sync: stack-push, other-edge; any remark

The comment stands on one of the statement's lines or on the line before. A name must occur where something is released
and where something is acquired. The names of std's orders are for sync/atomic.hpp, sync/double_word.hpp and sync/glimpsed.hpp alone.

Every edge must be run by a model, both ends of it in one, and test/model/mutants.py must weaken the files in which they stand;
or test/model/not_modelled says why not, an edge and its reason a line.
"""

import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tree import ROOT, end, is_library, library_files

ORDER = re.compile(r"\border::(acquire|release|acq_rel|seq_cst)\b")
SYNC = re.compile(r"//\s*sync:\s*(.*)$")
NAME = re.compile(r"^\s*([a-z][a-z0-9]*(?:-[a-z0-9]+)*)\s*(?::.*)?$")
BARE = re.compile(r"\bstd::(atomic\b|atomic_ref|memory_order|atomic_thread_fence)|\b__atomic_|\b__sync_")
NOT_CHECKED = ("sync/atomic.hpp", "sync/atomic_model.hpp", "sync/double_word.hpp", "sync/double_word_model.hpp",
               "sync/glimpsed.hpp")
ACQUIRES = {"acquire", "acq_rel", "seq_cst"}
RELEASES = {"release", "acq_rel", "seq_cst"}
INCLUDE = re.compile(r'^#include [<"]([^>"]+)[>"]', re.M)
SUBJECT = re.compile(r'^    "polder/(\S+)": \[', re.M)


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


def files(root: Path) -> Iterator[tuple[str, list[str]]]:
    """Name below src/polder and lines of each file whose orders are checked."""
    base = root / "src" / "polder"
    for path in filter(is_library, library_files(root)):
        inside = str(path.relative_to(base))
        if inside not in NOT_CHECKED:
            yield inside, path.read_text().splitlines()


def orders_in(lines: list[str]) -> Iterator[tuple[int, set[str], list[str]]]:
    """Each line with orders: its index, the orders, and the names of their edges."""
    for at, line in enumerate(lines):
        if orders := set(ORDER.findall(code_of(line))):
            first, last = statement(lines, at)
            before = lines[first - 1:first] if first > 0 and lines[first - 1].strip().startswith("//") else []
            yield at, orders, names_of(before + lines[first:last + 1])


def kinds_of(orders: set[str]) -> set[str]:
    return ({"acquired"} if orders & ACQUIRES else set()) | ({"released"} if orders & RELEASES else set())


def check(root: Path) -> tuple[int, list[str]]:
    troubles: list[str] = []
    ends: dict[str, set[str]] = defaultdict(set)
    where: dict[str, str] = {}
    count = 0
    for inside, lines in files(root):
        for at, line in enumerate(lines):
            if bare := BARE.search(code_of(line)):
                troubles.append(f"src/polder/{inside}:{at + 1}: {bare.group(0)} is for sync/atomic.hpp alone")
        for at, orders, names in orders_in(lines):
            place = f"src/polder/{inside}:{at + 1}"
            count += 1
            if not names:
                troubles.append(f"{place}: order::{'/'.join(sorted(orders))} names no edge (// sync: name)")
            for name in names:
                where.setdefault(name, place)
                ends[name] |= kinds_of(orders)
    for name, kinds in sorted(ends.items()):
        for missing in sorted({"acquired", "released"} - kinds):
            troubles.append(f"{where[name]}: the edge '{name}' is never {missing}")
    return count, troubles


def included(root: Path, model: Path) -> set[str]:
    """What a model runs: the library's files that it includes, directly or not, by their names below src/polder."""
    found: set[str] = set()
    waiting = [model]
    while waiting:
        here = waiting.pop()
        for name in INCLUDE.findall(here.read_text()):
            for path in (root / "src" / name, here.parent / name, root / "test/model" / name):
                inside = name.removeprefix("polder/")
                if path.is_file() and inside not in found:
                    found.add(inside)
                    waiting.append(path)
    return found


def check_models(root: Path) -> tuple[int, list[str]]:
    """Edges, and those of which no model is known."""
    ends: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))  # edge -> file -> kinds
    for inside, lines in files(root):
        if inside.endswith("_test.hpp"):
            continue
        for _, orders, names in orders_in(lines):
            for name in names:
                ends[name][inside] |= kinds_of(orders)
    models = [included(root, model) for model in sorted((root / "src").rglob("*_model.cpp"))]
    run = {name for name, places in ends.items()
           if any(set().union(*(places[f] for f in places if f in model)) == {"acquired", "released"} for model in models)}
    reasons = {name.strip() for line in (root / "test/model/not_modelled").read_text().splitlines()
               if not line.startswith("#") for name, _, reason in [line.partition(":")] if reason.strip()}
    troubles = [f"{min(ends[name])}: no model has both ends of the edge '{name}', and test/model/not_modelled has no reason"
                for name in sorted(ends.keys() - run - reasons)]
    troubles += [f"test/model/not_modelled: '{name}' " + ("has a model" if name in run else "is no edge")
                 for name in sorted(reasons - (ends.keys() - run))]
    subjects = set(SUBJECT.findall((root / "test/model/mutants.py").read_text()))
    weak = {f for name in run for f in ends[name] if any(f in model for model in models)}
    troubles += [f"src/polder/{f}: test/model/mutants.py does not weaken its orders" for f in sorted(weak - subjects)]
    return len(ends), troubles


if __name__ == "__main__":
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT
    looked_at, found = check(root)
    edges, unknown = check_models(root)
    print(f"{edges} edges")
    sys.exit(end("check_orders", looked_at, "orders", found + unknown))
