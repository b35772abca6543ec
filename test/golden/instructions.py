#!/usr/bin/env python3
"""Instructions the heap executes for one operation, by callgrind, against a golden file.

    instructions.py LIBRARY OPERATIONS GOLDEN [--update]

LIBRARY is preloaded into OPERATIONS once for each operation; what runs inside LIBRARY between the program's two marks
is counted, the C library (memset, say) and the kernel are not: so the figures are the same on a noisy or another
machine. A figure may differ by 2 instructions or by 2 %. --update writes the figures found.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

import table

OPERATIONS = {
    "malloc_free_16": "malloc(16) and its free by the same thread",
    "malloc_free_1024": "malloc(1024) and its free by the same thread",
    "malloc_remote_free_16": "malloc(16), its free by another thread, the owner's drain",
    "refill_1024": "64 blocks of 1 KiB that fill one fresh span",
    "malloc_150000_further": "malloc of three grains that stays, after 16,000 of them",
    "calloc_free_4096": "calloc of 4 KiB, without the C library's memset, and its free",
    "calloc_free_64": "the same of 64 bytes",
    "aligned_free_64": "aligned_alloc(64, 64) and its free by the same thread",
    "aligned_free_4096": "aligned_alloc(4096, 4096) and its free by the same thread",
    "malloc_free_40000": "malloc(40000), a grain, and its free by the same thread",
    "realloc_by_100": "realloc by 100 bytes more, from 100 to 8,000, with its share of what begins and ends it",
    "usable_size_64": "malloc_usable_size of a block of 64 bytes",
    "new_delete_48": "operator new(48) and operator delete(p, 48) by the same thread",
}


def inside(library: str, report: str) -> int:
    """Instructions spent in `library` itself: not those of calls it makes, nor of others."""
    names: dict[str, str] = {}
    total = 0
    ours = called = False
    for line in report.splitlines():
        if match := re.match(r"(c?ob)=(\(\d+\))(?: (.*))?$", line):
            kind, number, name = match.groups()
            if name is not None:
                names[number] = name
            if kind == "ob":
                ours = os.path.realpath(names[number]) == library
        elif line.startswith("calls="):
            called = True  # the next line is the cost of the call, counted where it was spent
        elif re.match(r"[+*\-0-9]", line):
            if ours and not called:
                fields = line.split()
                total += int(fields[1]) if len(fields) > 1 else 0
            called = False
    return total


def measured(library: str, program: str, operation: str, folder: str) -> float:
    report = pathlib.Path(folder, operation)
    environment = dict(os.environ, LD_PRELOAD=library, POLDER_OPTIONS="decay_ms=100000000")
    command = ["valgrind", "--quiet", "--tool=callgrind", "--collect-atstart=no", "--combine-dumps=yes",
               f"--callgrind-out-file={report}", program, operation]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=200, check=False)
    if run.returncode != 0 or not run.stdout.strip().isdigit():
        sys.exit(f"{operation}: exit status {run.returncode}\n{run.stdout}{run.stderr}")
    count = inside(os.path.realpath(library), report.read_text())
    if count == 0:
        sys.exit(f"{operation}: nothing ran inside {library}: is it a heap?")
    return count / int(run.stdout)


def main() -> int:
    asked = table.arguments(__doc__, "operations", "valgrind")
    with tempfile.TemporaryDirectory() as folder:
        found = {name: (measured(asked.library, asked.operations, name, folder),) for name in OPERATIONS}

    if asked.update:
        table.write(asked.golden, "# Instructions an operation inside the heap's library; refreshed by instructions.py --update.", found, OPERATIONS)
    return table.verdict(asked.golden, ("instructions",), found, lambda _name, _column, was, now: abs(now - was) > max(2.0, was * 0.02))


if __name__ == "__main__":
    sys.exit(main())
