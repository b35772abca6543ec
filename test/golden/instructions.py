#!/usr/bin/env python3
"""Instructions the heap executes for one operation, by callgrind, against a golden file.

    instructions.py LIBRARY OPERATIONS GOLDEN [--update]

LIBRARY is preloaded into OPERATIONS once for each operation; what runs inside LIBRARY between the program's two marks
is counted, the C library (memset, say) and the kernel are not: so the figures are the same on a noisy or another
machine. One line of GOLDEN is

    malloc_free_16        41.0   a comment

A figure may differ by 2 instructions or by 2 %. --update writes the figures found and keeps the comments.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

OPERATIONS = {
    "malloc_free_16": "malloc(16) and its free by the same thread",
    "malloc_free_1024": "malloc(1024) and its free by the same thread",
    "malloc_remote_free_16": "malloc(16), its free by another thread, the owner's drain",
    "refill_1024": "64 blocks of 1 KiB that fill one fresh span",
    "calloc_free_4096": "calloc of 4 KiB, without the C library's memset, and its free",
    "calloc_free_64": "the same of 64 bytes",
    "aligned_free_64": "aligned_alloc(64, 64) and its free by the same thread",
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


def known(golden: pathlib.Path) -> dict[str, float]:
    lines = golden.read_text().splitlines() if golden.exists() else []
    return {line.split()[0]: float(line.split()[1]) for line in lines if line.strip() and not line.startswith("#")}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("operations")
    parser.add_argument("golden", type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    asked = parser.parse_args()
    if shutil.which("valgrind") is None:
        sys.exit("valgrind is missing: apt-get install valgrind")
    with tempfile.TemporaryDirectory() as folder:
        found = {name: measured(asked.library, asked.operations, name, folder) for name in OPERATIONS}

    if asked.update:
        head = "# Instructions an operation inside the heap's library; refreshed by instructions.py --update.\n"
        text = "".join(f"{name:<24}{found[name]:>8.1f}   {what}\n" for name, what in OPERATIONS.items())
        asked.golden.write_text(head + text)

    golden = known(asked.golden)
    if not golden:
        sys.exit(f"{asked.golden}: no figures; make them with --update")
    wrong = sorted(golden.keys() ^ found.keys())
    for name in wrong:
        print(f"{name}: only in {'the golden file' if name in golden else 'the program'}")
    print(f"{'operation':<24}{'golden':>8}{'found':>8}")
    for name in sorted(golden.keys() & found.keys()):
        off = abs(found[name] - golden[name]) > max(2.0, golden[name] * 0.02)
        wrong += [name] * off
        print(f"{name:<24}{golden[name]:>8.1f}{found[name]:>8.1f}{'   differs' if off else ''}")
    if wrong:
        print("If that is meant, refresh the file with --update and say why in the commit.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
