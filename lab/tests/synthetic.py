"""Records as an experiment would leave them, made up but shaped like real ones: nine subjects, every pass, troubles.

As a program it writes them to a file: python tests/synthetic.py FILE.jsonl
"""

from __future__ import annotations

import json
import math
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Entry = dict[str, Any]
ROUNDS = 10

# name, kind, title, year, speed, how much it gains per thread, memory, faults
SUBJECTS: list[tuple[str, str, str, str, float, float, float, float]] = [
    ("system", "system", "the system's malloc", "", 1.0, 0.55, 1.0, 1.0),
    ("polder", "polder", "the flagship heap", "2026", 0.62, 0.95, 1.06, 0.75),
    ("scalloc", "polder", "scalloc", "2015", 0.71, 0.93, 1.22, 0.9),
    ("lrmalloc", "polder", "LRMalloc", "2018", 0.66, 0.85, 1.31, 1.1),
    ("jemalloc", "peer", "jemalloc", "2006", 0.70, 0.9, 1.02, 0.8),
    ("mimalloc", "peer", "mimalloc", "2019", 0.58, 0.97, 1.12, 0.85),
    ("tcmalloc", "peer", "tcmalloc of gperftools", "2005", 0.64, 0.8, 1.35, 0.7),
    ("tbb", "peer", "tbbmalloc of oneTBB", "2007", 0.75, 0.88, 1.4, 1.05),
    ("broken", "file", "a library that crashes now and then", "", 0.9, 0.6, 1.2, 1.0),
]
# name, preset, group, seconds at one thread under the system's malloc, peak MB, threads, title, what, shows, paper
WORKLOADS: list[tuple[str, str, str, float, float, list[int], str, str, str, str]] = [
    (
        "threadtest",
        "",
        "seeds",
        0.68,
        10,
        [1, 2, 8],
        "Threadtest",
        "Each thread allocates a batch of equal blocks and frees it again, round after round; nothing is shared.",
        "Speed of purely local batches, larger than any thread cache: how the cache is refilled and drained.",
        "Berger 2000; scalloc fig. 6, 13, 14; Michael fig. 8b; LRMalloc fig. 2b",
    ),
    ("threadtest", "scalloc", "seeds", 1.9, 16, [1, 2, 4, 8], "Threadtest", "As scalloc's figure 6.", "The backend.", "scalloc fig. 6"),
    (
        "linux_scalability",
        "michael",
        "seeds",
        0.38,
        3,
        [1, 2, 4],
        "Linux scalability",
        "Each thread allocates and frees a block of 8 bytes in a tight loop; or a great batch, then frees it.",
        "Latency of the shortest path through the allocator, and whether threads disturb each other there.",
        "Lever and Boreham 2000; Michael fig. 8a; LRMalloc fig. 2a",
    ),
    (
        "larson",
        "",
        "seeds",
        0.35,
        4,
        [1, 2, 8],
        "Larson",
        "A server: each thread replaces blocks at random slots, then ends and leaves its slots to a new thread.",
        "Irregular sizes and lifetimes for long, and what becomes of a dead thread's memory and caches.",
        "Larson and Krishnan 1998; Michael fig. 8e; scalloc fig. 8; LRMalloc fig. 3",
    ),
    (
        "producer_consumer",
        "",
        "seeds",
        0.9,
        6,
        [2, 8],
        "Producer-consumer",
        "Threads pass blocks through bounded queues; the receiver checks and frees them.",
        "The cost of remote frees, and whether remotely freed memory comes back to who allocates.",
        "scalloc fig. 9 (ACDC); Berger 2000",
    ),
    (
        "mixed",
        "",
        "field",
        0.22,
        24,
        [1, 2, 8],
        "Mixed",
        "Each thread allocates blocks of a realistic mix of sizes and lives; some are freed by other threads.",
        "The allocator as most programs meet it: speed, and memory used beside long-lived blocks.",
        "own; sizes and lifetimes after published traces of C and C++ programs",
    ),
    (
        "large_blocks",
        "",
        "field",
        0.36,
        62,
        [1, 2],
        "Large blocks",
        "Each thread holds a few large blocks and replaces one at random, of random size, again and again.",
        "Whether large memory is kept for reuse: system calls, page faults, and the memory that costs.",
        "the field since",
    ),
]
PROGRAMS: list[tuple[str, float, float, str]] = [
    ("redis", 1.2, 60, "an in-memory store, driven by its own benchmark"),
    ("python", 0.34, 58, "objects, strings and dictionaries"),
    ("sqlite", 0.69, 68, "tables, indexes and queries in memory"),
    ("gcc", 0.68, 116, "compiles a large file"),
    ("xalan", 0.9, 90, "transforms a generated document"),
]


def rows() -> list[Entry]:
    made: list[Entry] = []
    for name, preset, group, _, _, threads, title, what, shows, paper in WORKLOADS:
        for count in threads:
            made.append(
                {
                    "id": f"{name}:{preset}/{count}" if preset else f"{name}/{count}",
                    "name": name,
                    "kind": "workload",
                    "group": group,
                    "threads": count,
                    "preset": preset or None,
                    "parameters": {"size": 64, "rounds": 240},
                    "title": title,
                    "what": what,
                    "shows": shows,
                    "paper": paper,
                }
            )
    for name, _, _, summary in PROGRAMS:
        made.append(
            {
                "id": name,
                "name": name,
                "kind": "program",
                "group": "programs",
                "threads": None,
                "preset": None,
                "parameters": {},
                "title": name,
                "what": summary,
                "shows": "A program as people run it.",
                "paper": None,
            }
        )
    return made


def experiment() -> Entry:
    return {
        "record": "experiment",
        "format": 1,
        "name": "synthetic",
        "started": "2026-03-01T21:00:00+00:00",
        "seed": 7,
        "settings": {"rounds": ROUNDS, "quick": False, "until": 0.02},
        "machine": {
            "cpu": "Example(R) Processor 3.0 GHz",
            "architecture": "x86_64",
            "cores": 2,
            "memory_bytes": 8 << 30,
            "kernel": "6.1.0-18-amd64",
            "distribution": "Debian GNU/Linux 12 (bookworm)",
            "libc": "glibc 2.36",
            "transparent_huge_pages": "madvise",
            "overcommit_memory": "0",
            "compiler": "g++ (Debian 12.2.0-14) 12.2.0",
            "commit": "0123456789abcdef0123456789abcdef01234567",
            "uncommitted_changes": True,
            "python": "3.11.2",
        },
        "subjects": [
            {
                "name": name,
                "kind": kind,
                "title": title,
                "version": "1.0",
                "year": year,
                "paper": None,
                "summary": f"{title}, made up.",
                "library": None if kind == "system" else f"/usr/lib/lib{name}.so",
            }
            for name, kind, title, year, *_ in SUBJECTS
        ],
        "rows": rows(),
    }


def buckets(lot: random.Random, centre: float, tail: float) -> list[list[int]]:
    """Log-linear: eight steps an octave."""
    counted: dict[tuple[int, int], int] = {}
    for _ in range(3000):
        ns = centre * math.exp(lot.gauss(0, 0.3)) * (1 if lot.random() > 0.01 else math.exp(lot.expovariate(1 / tail)))
        octave = int(math.log2(max(ns, 8)))
        step = 2 ** (octave - 3)
        low = int(ns // step * step)
        counted[(low, low + step)] = counted.get((low, low + step), 0) + 7
    return [[low, high, count] for (low, high), count in sorted(counted.items())]


def steady(row: Entry, subject: tuple[Any, ...], lot: random.Random) -> tuple[float, float, float]:
    """Seconds, peak bytes and faults of this subject on this row before any noise."""
    name, _, _, _, speed, gain, memory, faults = subject
    threads = row["threads"] or 1
    if row["kind"] == "program":
        base, peak = next((s, m) for n, s, m, _ in PROGRAMS if n == row["name"])
        share = 0.15
    else:
        base, peak = next((s, m) for n, p, _, s, m, *_ in WORKLOADS if n == row["name"] and (p or None) == row["preset"])
        share = 1.0
    taste = random.Random(f"{row['name']} {name}").gauss(1, 0.12)
    speedup = min(threads, 2) ** gain
    at = (
        base * (1 - share + share * speed * max(0.5, taste)) * threads / speedup
        if row["kind"] == "workload"
        else base * (1 - share + share * speed * taste)
    )
    return at, peak * 2**20 * memory * threads**0.6 * max(0.8, taste), 900 * peak / 10 * faults


def run(row: Entry, subject: tuple[Any, ...], instrument: str, number: int, lot: random.Random) -> Entry:
    name = subject[0]
    at, peak, faults = steady(row, subject, lot)
    mood = 1 + 0.02 * math.sin(number)  # the round's, shared by all
    wild = 1.3 if lot.random() < 0.03 else 1.0
    seconds = at * mood * wild * lot.lognormvariate(0, 0.015)
    workload = row["kind"] == "workload"
    made: Entry = {
        "record": "run",
        "pass": instrument,
        "round": number,
        "row": row["id"],
        "subject": name,
        "ok": True,
        "trouble": None,
        "seconds": round(seconds, 6),
        "operations": 20_000_000 * (row["threads"] or 1) if workload else None,
        "wall": round(seconds + 0.01, 6),
        "user": round(seconds * 0.9, 6),
        "system": round(seconds * 0.1, 6),
        "peak_rss": int(peak * lot.lognormvariate(0, 0.01)),
        "base_rss": 3 << 20,
        "minor_faults": int(faults * lot.lognormvariate(0, 0.01)),
        "major_faults": 0,
        "allocations": 10_000_000 if workload else None,
        "frees": 10_000_000 if workload else None,
        "remote_frees": 0 if workload else None,
        "live_peak": int(peak * 0.7) if workload else None,
        "allocator_seconds": None,
        "at": round(number * 60 + lot.random() * 50, 3),
    }
    if name == "broken" and row["name"] in ("larson", "gcc"):
        return {
            **made,
            "ok": False,
            "trouble": "crashes: Segmentation fault" if row["name"] == "larson" else "hangs: ended after 60 s",
            "seconds": None,
            "operations": None,
            "peak_rss": None,
            "minor_faults": None,
            "major_faults": None,
        }
    if instrument == "latency":
        made["latency"] = {
            call: {
                "count": 21_000,
                "buckets": (found := buckets(lot, 22 * subject[4] * scale, 2 + subject[5])),
                "worst_ns": found[-1][1] * 3,
            }
            for call, scale in (("malloc", 1.0), ("free", 0.8))
        }
    if instrument == "memory":
        steps = max(20, int(seconds / 0.01))
        made["memory"] = {
            "interval": 0.01,
            "rss": [int(peak * min(1.0, 0.15 + 1.3 * i / steps) * (0.93 + 0.07 * math.sin(i / 9))) for i in range(steps)],
            "pss": [[0.5, int(peak * 0.9)]],
            "page_tables": [[0.5, 200_000]],
            "live": [[i * 0.05, int(peak * 0.6 * min(1.0, 0.1 + i / 10))] for i in range(int(seconds / 0.05))],
        }
    if instrument == "calls":
        made["calls"] = {
            "mmap": int(40 * subject[7]),
            "munmap": 12,
            "madvise": int(faults / 90),
            "brk": 3 if name != "system" else 180,
            "futex": 4,
        }
    if instrument == "instructions":
        made["instructions"] = int(at * 2.6e9)
    return made


def entries() -> Iterator[Entry]:
    lot = random.Random(7)
    yield experiment()
    yield {"record": "absent", "what": "hoard", "why": "libhoard.so is not installed and no registry has it"}
    yield {"record": "absent", "what": "postgresql", "why": "pgbench is not installed (apt-get install postgresql-contrib)"}
    yield {"record": "noise", "at": 0.0, "others_share": 0.01, "spin_spread": 0.02}
    for instrument, rounds in (("time", ROUNDS), ("latency", 3), ("memory", 3), ("calls", 1), ("instructions", 1)):
        for number in range(rounds):
            order = [(row, subject) for row in rows() for subject in SUBJECTS]
            lot.shuffle(order)
            for row, subject in order:
                if instrument in ("latency", "instructions") and row["kind"] == "program":
                    continue
                yield run(row, subject, instrument, number, lot)
            yield {"record": "noise", "at": 60.0 * (number + 1), "others_share": 0.09 if number == 4 else 0.02, "spin_spread": 0.03}
    yield {"record": "end", "interrupted": False, "seconds": 1830.5}


def write(path: Path, skip: tuple[str, ...] = ()) -> Path:
    """skip: passes that are left out."""
    with path.open("w") as out:
        for entry in entries():
            if entry.get("pass") not in skip or "pass" not in entry:
                out.write(json.dumps(entry) + "\n")
    return path


if __name__ == "__main__":
    write(Path(sys.argv[1]))
