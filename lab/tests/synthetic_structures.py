"""Records of the suite `structures`, made up: what stands to what is known, so that charts and catalogue can be asked for it."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

ROUNDS = 6
THREADS = (2, 8)
SUBJECTS = {"system": 1.0, "polder": 0.5}
# name: reclaimer, nanoseconds an operation, mean lateness, k measured, k promised (None: none is), as a stack, comparison
STRUCTURES: dict[str, tuple[str, float, float, int, int | None, bool, str]] = {
    "ms-queue": ("debra", 400, 0, 0, 0, False, "queues"),
    "lcrq": ("debra", 200, 0, 0, 0, False, "queues"),
    "spsc-ring": ("debra", 50, 0, 0, 0, False, "queues"),
    "tbb-queue": ("own", 300, 0.25, 9, None, False, "queues"),
    "unbounded-kfifo": ("debra", 160, 12.5, 60, 63, False, "relaxed-queues"),
    "lru-dq": ("debra", 800, 0.5, 3, 7, False, "relaxed-queues"),
    "treiber-stack": ("debra", 380, 0, 0, 0, True, "stacks"),
    "k-stack": ("debra", 190, 40, 77, 79, True, "relaxed-stacks"),
    "bag": ("debra", 100, 300, 4000, None, True, "pools"),
}
TITLES = {"queues": "Strict queues", "relaxed-queues": "Relaxed queues", "stacks": "Strict stacks", "relaxed-stacks": "Relaxed stacks",
          "pools": "Deques and pools", "reclaimed": "Reclamation"}


def variant(name: str, memory: str = "heap") -> str:
    return f"hand_over:{name}.{STRUCTURES[name][0] if memory == 'heap' else 'leaky'}.{memory}"


def comparisons() -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for key, title in TITLES.items():
        base = "treiber-stack" if "stacks" in key else "ms-queue"
        names = [name for name, of in STRUCTURES.items() if of[-1] == key]
        lines = [{"label": name, "of": variant(name), "to": variant(base)} for name in names]
        if key == "reclaimed":
            lines = [{"label": "ms-queue", "of": variant("ms-queue"), "to": variant("ms-queue", "preallocated")}]
        made.append({"key": key, "title": title, "what": title, "measures": ["time", "lateness", "k"], "threads": list(THREADS),
                     "lines": lines})
    return made


def entries() -> list[dict[str, Any]]:
    lot = random.Random(1)
    rows = [{"id": f"{of}/{threads}", "name": "hand_over", "kind": "workload", "group": "field", "threads": threads,
             "preset": of.partition(":")[2], "parameters": {}, "title": "Elements from hand to hand", "what": "", "shows": "", "paper": ""}
            for of in [*map(variant, STRUCTURES), variant("ms-queue", "preallocated")] for threads in THREADS
            if not (threads == 8 and "spsc" in of)]
    made: list[dict[str, Any]] = [{
        "record": "experiment", "format": 1, "name": "structures", "started": "2026-11-23T06:00:00+00:00", "seed": 1,
        "settings": {"suite": "structures", "mode": "quick"}, "machine": {"cores": 2, "cpu": "Example", "commit": "0123456789abcdef"},
        "subjects": [{"name": name, "kind": "peer", "title": name} for name in SUBJECTS], "rows": rows, "comparisons": comparisons()}]
    for row in rows:
        name, threads = str(row["preset"]).split(".")[0], int(str(row["threads"]))
        _, cost, late, k, promised, as_stack, _ = STRUCTURES[name]
        for number in range(ROUNDS):
            mood = 1 + number % 3
            for subject, speed in SUBJECTS.items():
                seconds = cost * 1e-9 * threads * speed * mood * lot.uniform(0.995, 1.005) * 1000
                made.append({"record": "run", "pass": "time", "round": number, "row": row["id"], "subject": subject, "ok": True,
                             "trouble": "", "seconds": seconds, "operations": 1000, "wall": seconds, "user": seconds, "system": 0.0,
                             "peak_rss": 1 << 20, "minor_faults": 10, "major_faults": 0, "figures": {"said_empty": 3}})
        if "preallocated" not in str(row["id"]):
            figures: dict[str, float] = {"lateness_mean": late, "lateness_p99": 2 * late, "lateness_max": 3 * late, "age_mean": late,
                                         "k_measured": k, "as_stack": as_stack}
            if promised is not None:
                figures["k_promised"] = promised
            made.append({"record": "run", "pass": "quality", "round": 0, "row": row["id"], "subject": "system", "ok": True, "trouble": "",
                         "seconds": 1.0, "operations": 1000, "figures": figures})
    return made


def write(path: Path) -> Path:
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries()))
    return path
