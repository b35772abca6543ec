#!/usr/bin/env python3
"""Page faults and system calls of each workload, for a million of its operations, against a golden file.

    kernel.py LIBRARY BENCH GOLDEN [--update]

LIBRARY is preloaded into BENCH for each workload's preset `quick` with one thread (or pair, or team) on two processors,
with a decay that never comes: then only the program decides what the heap asks of the kernel. Counted are

* faults: minor faults of the timed part, as shipped. Huge pages decide about them, so where the kernel gives none the
  column is not judged;
* small pages: the same with `thp=off`, which is how many pages the heap touches;
* calls: those about memory of the whole process, its start included, by strace.

A count may differ by TOLERANCE or by FEW, whichever is more, and by LOOSE where the scheduler decides which threads are there
at once. One that is off is counted again, to the least of three: what runs beside it can only add. --update writes the
medians of three.
"""

import json
import mmap
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import table

COLUMNS = ("faults", "small pages", "calls")
TOLERANCE = 0.1
LOOSE = {"idle_threads": 1.0, "thread_churn": 1.0}
STEADY = {"growing_set": "steps=2500000"}  # instead of a time
FEW = 24
ATTEMPTS = 3
NO_DECAY = "decay_ms=100000000"
# What a heap asks a kernel. Not futex or clone: those are the program's threads.
MEMORY_CALLS = {"brk", "madvise", "membarrier", "mincore", "mmap", "mprotect", "mremap", "munmap", "pread64", "prlimit64",
                "process_madvise", "sched_getaffinity"}
HUGE_PAGE = 2 << 20
HEAD = ("# For a million operations: minor faults, minor faults with thp=off, system calls about memory;"
        " refreshed by kernel.py --update.")


class Workload:
    """One workload under one heap: its counts, and of how many operations."""

    def __init__(self, library: str, bench: str, name: str) -> None:
        self.library = library
        self.tolerance = LOOSE.get(name, TOLERANCE)
        steady = ["--param", STEADY[name]] if name in STEADY else []
        self.command = [bench, "run", name, "--threads", "1", "--preset", "quick", *steady]
        self.operations = 0

    def counts(self) -> list[int]:
        faults = [self.told(self.command, options)["minor_faults"] for options in (NO_DECAY, f"{NO_DECAY},thp=off")]
        with tempfile.NamedTemporaryFile("r") as report:
            inside = [word for variable in self.heap(NO_DECAY).items() for word in ("-E", "=".join(variable))]
            told = self.told(["strace", "-f", "-c", "-U", "name,calls", "-o", report.name, *inside, "--", *self.command], None)
            calls = re.findall(r"^(\w+) +(\d+)$", report.read(), re.MULTILINE)
        self.operations = told["operations"]
        return [*faults, sum(int(count) for name, count in calls if name in MEMORY_CALLS)]

    def heap(self, options: str) -> dict[str, str]:
        return {"LD_PRELOAD": self.library, "POLDER_OPTIONS": options}

    def told(self, command: list[str], options: str | None) -> dict[str, int]:
        environment = os.environ | (self.heap(options) if options else {})
        run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=200, check=False)
        if run.returncode != 0:
            sys.exit(f"{' '.join(command)}: exit status {run.returncode}\n{run.stdout}{run.stderr}")
        return json.loads(run.stdout)

    def row(self, golden: table.Row | None) -> table.Row:
        """Counted until it is as `golden` says, ATTEMPTS times at most: the least; without a golden one the median."""
        runs: list[list[int]] = []
        for _ in range(ATTEMPTS):
            runs.append(self.counts())
            least = self.of_a_million([min(column) for column in zip(*runs, strict=True)])
            if golden and not any(map(self.off, golden, least)):
                return least
        return least if golden else self.of_a_million([statistics.median_low(column) for column in zip(*runs, strict=True)])

    def of_a_million(self, counts: list[int]) -> table.Row:
        return tuple(count * 1e6 / self.operations for count in counts)

    def off(self, was: float, now: float) -> bool:
        return abs(now - was) > max(was * self.tolerance, FEW * 1e6 / self.operations)


def huge_pages() -> bool:
    """Whether the kernel gives huge pages to who asks for them by madvise."""
    with mmap.mmap(-1, 8 * HUGE_PAGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as area:
        try:
            area.madvise(mmap.MADV_HUGEPAGE)
        except (AttributeError, OSError):
            return False
        before = minor_faults()
        for at in range(0, len(area), mmap.PAGESIZE):
            area[at] = 1
        return minor_faults() - before < 2 * HUGE_PAGE // mmap.PAGESIZE


def minor_faults() -> int:
    return int(pathlib.Path("/proc/self/stat").read_text().rsplit(")", 1)[1].split()[7])


def main() -> int:
    asked = table.arguments(__doc__, "bench", "strace")
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])  # the heap has as many caches as processors
    listed = json.loads(subprocess.run([asked.bench, "list", "--json"], capture_output=True, text=True, check=True).stdout)["workloads"]
    workloads = {w["name"]: Workload(asked.library, asked.bench, w["name"]) for w in listed if w["group"] != "structures"}
    golden = {} if asked.update else table.read(asked.golden, COLUMNS)
    found = {name: workload.row(golden.get(name)) for name, workload in workloads.items()}
    if asked.update:
        table.write(asked.golden, HEAD, found, {w["name"]: w["title"] for w in listed})
    judged = [True, True, True]
    if not huge_pages():
        print("no huge pages here: the first column is not judged")
        judged[0] = False
    return table.verdict(asked.golden, COLUMNS, found, lambda name, column, was, now: judged[column] and workloads[name].off(was, now))


if __name__ == "__main__":
    sys.exit(main())
