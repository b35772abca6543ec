"""What the tests of progress have measured, as the table in the heap's documentation.

    progress_table.py FILE... [--into PAGE]

FILE: what they printed, or what ctest kept of it (Testing/Temporary/LastTest.log), of which other heaps' tests are left
out. Of several runs the counts are added up. --into puts the table between the page's marks in place of the one that is
there; without, it is printed. Exit status 1 where an operation was not measured in some way in which the tests measure it,
a promise that nothing holds; and where one was measured that the table has no line for.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

OPERATIONS = ["malloc", "calloc", "memalign", "free", "free of another's", "realloc", "large", "huge", "malloc_trim",
              "past the thread's exit"]
KINDS = ["malloc", "free", "free of another's", "realloc", "large", "malloc_trim"]  # what each of the 32 threads does
WAYS = {"signal": "signals there", "stop": "stops there", "exit": "ends there", "exits": "ends, one process"}
HEADS = ["operation", "instructions", "different ones", *WAYS.values(), "done beside frozen threads", "longest, ms",
         "on the processor"]
BEGIN, END = "<!-- progress:begin -->", "<!-- progress:end -->"
TEST_BEGINS = re.compile(r"Testing: \S+@(\S+)")

Record = dict[str, Any]


def read(text: str) -> list[Record]:
    records: list[Record] = []
    heap = "polder"
    for line in text.splitlines():
        if begun := TEST_BEGINS.search(line):
            heap = begun[1]
        elif line.startswith("measured ") and heap == "polder":
            records.append(json.loads(line.removeprefix("measured ")))
    return records


def of(records: Iterable[Record], test: str, **wanted: str) -> list[Record]:
    return [r for r in records if r["test"] == test and all(r.get(key) == value for key, value in wanted.items())]


def total(records: Iterable[Record], key: str) -> int:
    return sum(r.get(key, 0) for r in records)


def missing(records: list[Record]) -> list[str]:
    """What nothing holds, and what has no line."""
    stepped = [(o, w) for o in OPERATIONS for w in WAYS if total(of(records, "steps", operation=o, way=w), "met") == 0]
    frozen = [k for k in KINDS if total(of(records, "frozen", operation=k), "done") == 0]
    counts = {("frozen", ""): "inside", ("killed", "exit"): "inside", ("killed", "cancel"): "inside",
              ("signals", "inside"): "inside", ("signals", "beside"): "handlers", ("priorities", ""): "wakes"}
    whole = [f"{test} {way}".strip() for (test, way), key in counts.items()
             if total(of(records, test, **({"way": way} if way else {})), key) == 0]
    unknown = sorted({r["operation"] for r in records if r.get("operation") not in (None, *OPERATIONS)})
    return [f"{operation}: no {WAYS[way]}" for operation, way in stepped] + [f"{kind}: not with frozen threads" for kind in frozen] \
        + [f"{test}: nothing" for test in whole] + [f"{operation}: no such line in the table" for operation in unknown]


def line_of(operation: str, records: list[Record]) -> str:
    steps = of(records, "steps", operation=operation)
    cells = [operation]
    if steps:
        fewest, most = min(r["fewest"] for r in steps), max(r["most"] for r in steps)
        cells += [f"{fewest:,} – {most:,}", f"{max(r['places'] for r in steps):,}"]
    else:
        cells += ["", ""]
    cells += [f"{met:,}" if (met := total(of(steps, "steps", way=way), "met")) else "" for way in WAYS]
    if frozen := of(records, "frozen", operation=operation):
        cells += [f"{total(frozen, 'done'):,}", f"{max(r['clock_ms'] for r in frozen):.1f}",
                  f"{max(r['processor_ms'] for r in frozen):.1f}"]
    else:
        cells += ["", "", ""]
    return "| " + " | ".join(cells) + " |"


def sentences(records: list[Record]) -> list[str]:
    said = [time.strftime("Measured on %-d %B %Y, on ") + f"{len(os.sched_getaffinity(0))} processors."]
    freezes = [r for r in of(records, "frozen") if "freezes" in r]
    said.append(f"{total(freezes, 'freezes'):,} freezes, {total(freezes, 'inside'):,} of them inside the heap.")
    for way, what in (("exit", "killed"), ("cancel", "cancelled")):
        dead = of(records, "killed", way=way)
        inside, stranded = total(dead, "inside"), total(dead, "stranded_kib")
        said.append(f"{inside:,} threads {what} inside the heap, {total(dead, 'outside'):,} outside; the others did "
                    f"{total(dead, 'operations'):,} operations; {stranded / max(inside, 1) / 1024:.1f} MB stranded for each inside.")
    for way, what in (("inside", "on the threads that work"), ("beside", "on another thread")):
        runs = of(records, "signals", way=way)
        middle = f", {total(runs, 'inside'):,} in the middle of an operation" if way == "inside" else ""
        said.append(f"{total(runs, 'handlers'):,} handlers {what}{middle}, and {total(runs, 'operations'):,} operations.")
    turns = of(records, "priorities")
    said.append(f"{total([{'n': r['preferred'] * r['wakes']} for r in turns], 'n'):,} wakes of threads that are preferred, "
                f"{max((r['processor_ms'] for r in turns), default=0):.1f} ms on the processor at most, asleep "
                f"{total(turns, 'waits'):,} times in them, and {total(turns, 'operations'):,} operations of ordinary ones.")
    return [f"- {sentence}" for sentence in said]


def markdown(records: list[Record]) -> str:
    lines = ["| " + " | ".join(HEADS) + " |", "| --- |" + " ---: |" * (len(HEADS) - 1)]
    return "\n".join([*lines, *(line_of(operation, records) for operation in OPERATIONS), "", *sentences(records)])


def put_into(page: str, table: str) -> str:
    """Raises ValueError where the page has not one pair of marks."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end or BEGIN in rest:
        raise ValueError(f"not one pair of {BEGIN} and {END}")
    return f"{before}{BEGIN}\n{table}\n{END}{after}"


def main(arguments: list[str]) -> int:
    page = None
    if len(arguments) > 1 and arguments[-2] == "--into":
        *arguments, _, last = arguments
        page = Path(last)
    if not arguments or any(a.startswith("-") for a in arguments):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        records = [r for file in arguments for r in read(Path(file).read_text(errors="replace"))]
        if page is None:
            print(markdown(records))
        else:
            page.write_text(put_into(page.read_text(), markdown(records)))
    except (OSError, ValueError) as why:
        print(f"progress_table.py: {why}", file=sys.stderr)
        return 2
    for trouble in missing(records):
        print(trouble, file=sys.stderr)
    return 1 if missing(records) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
