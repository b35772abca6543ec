"""Records of a suite, made up: structure, reclaimer and drain, two allocators, seven rounds whose mood changes."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROUNDS = 7
SUBJECTS = {"system": 1.0, "polder": 0.8, "jemalloc": 0.9}
# variant: time of an operation, 99.9 % of them, peak of unreclaimed bytes, peak RSS
VARIANTS = {
    "abtree.debra.at_once": (1000e-9, 90_000, 4 << 20, 60 << 20),
    "abtree.debra.amortized": (900e-9, 5_000, 5 << 20, 64 << 20),
    "abtree.leaky.at_once": (1500e-9, 6_000, 300 << 20, 400 << 20),
    "abtree.hp.at_once": (1000e-9, 7_000, 1 << 14, 52 << 20),
    "abtree.token-naive.at_once": (800e-9, 200_000, 80 << 20, 160 << 20),
    "occ-avl.debra.at_once": (1800e-9, 30_000, 1 << 20, 50 << 20),
    "occ-avl.leaky.at_once": (1700e-9, 30_000, 60 << 20, 120 << 20),
}
THREADS = (2, 8)


def line(label: str, of: str, to: str) -> dict[str, str]:
    return {"label": label, "of": f"set:{of}", "to": f"set:{to}"}


COMPARISONS = [
    {
        "key": "reclaimers",
        "title": "Reclaimers",
        "what": "Against DEBRA.",
        "measures": ["time", "garbage"],
        "threads": [2, 8],
        "lines": [line(one, f"abtree.{one}.at_once", "abtree.debra.at_once") for one in ("hp", "debra", "token-naive")],
    },
    {
        "key": "drains",
        "title": "Drains",
        "what": "Against freeing at once.",
        "measures": ["time"],
        "threads": [8],
        "lines": [line("amortized", "abtree.debra.amortized", "abtree.debra.at_once")],
    },
]


def entries() -> list[dict[str, Any]]:
    lot = random.Random(1)
    rows: list[dict[str, Any]] = [
        {
            "id": f"set:{name}/{threads}",
            "name": "set",
            "kind": "workload",
            "group": "field",
            "threads": threads,
            "preset": name,
            "parameters": {**dict(zip(("structure", "reclaimer", "drain"), name.split("."), strict=True)), "keys": "100000"},
            "title": "Set under a reclaimer",
            "what": "",
            "shows": "",
            "paper": "",
        }
        for name in VARIANTS
        for threads in THREADS
    ]
    made: list[dict[str, Any]] = [
        {
            "record": "experiment",
            "format": 1,
            "name": "suite",
            "started": "2026-11-22T10:00:00+00:00",
            "seed": 1,
            "settings": {},
            "machine": {"cores": 2, "cpu": "Example"},
            "subjects": [{"name": name, "kind": "peer", "title": name} for name in SUBJECTS],
            "rows": rows,
            "comparisons": COMPARISONS,
        }
    ]
    for number in range(ROUNDS):
        mood = 1 + number % 3
        for row in rows:
            for subject, speed in SUBJECTS.items():
                cost, slow, garbage, peak = VARIANTS[row["preset"]]
                seconds = cost * speed * mood * lot.uniform(0.99, 1.01) * 1_000_000
                made.append(
                    {
                        "record": "run",
                        "pass": "time",
                        "round": number,
                        "row": row["id"],
                        "subject": subject,
                        "ok": True,
                        "trouble": "",
                        "seconds": seconds,
                        "operations": 1_000_000,
                        "wall": seconds,
                        "user": seconds,
                        "system": 0.0,
                        "peak_rss": peak,
                        "minor_faults": 10,
                        "major_faults": 0,
                        "figures": {"operation_p999_ns": slow * speed, "unreclaimed_peak_bytes": garbage, "epochs": 0},
                    }
                )
    made.append(
        {
            "record": "run",
            "pass": "frees",
            "round": 0,
            "row": "set:abtree.hp.at_once/2",
            "subject": "polder",
            "ok": True,
            "trouble": "",
            "seconds": 1.0,
            "operations": 1000,
            "figures": {"free_share": 12.5, "epochs": 3, "operation_p999_ns": 1},
        }
    )
    return made


def write(path: Path, without: Sequence[str] = ()) -> Path:
    path.write_text(
        "".join(json.dumps(entry) + "\n" for entry in entries() if not any(f"set:{name}" in str(entry.get("row", "")) for name in without))
    )
    return path
