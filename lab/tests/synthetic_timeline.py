"""Recordings of timelines as the recorder would write them, made up: threads that free batches, change epochs, pass on.

As a program it writes one: python tests/synthetic_timeline.py FILE [THREADS [EVENTS_A_THREAD]]
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from polder_lab.timeline.recording import EVENT, FORMS, HEADER, KIND, MAGIC, TALLY, THREAD, VERSION, Array

KINDS = (
    *(("batch free", "interval"), ("single free", "interval"), ("epoch advance", "point"), ("token pass", "point")),
    *(("bag rotate", "interval"), ("refill", "interval"), ("post", "interval"), ("drain", "interval"), ("span get", "interval")),
    *(("span put", "interval"), ("map", "interval"), ("unmap", "interval"), ("advise", "interval"), ("operation", "interval")),
    ("unreclaimed", "gauge"),
)
NUMBER = {name: at for at, (name, _) in enumerate(KINDS)}
BEGIN_TICKS, BEGIN_NS, TICK = 1_000_000, 5_000_000_000, 0.5  # ns a tick
Event = tuple[str, float, float, int, int]  # kind, begin and end in seconds, label, count


@dataclass
class Made:
    tid: int
    name: str
    events: Array
    lost: Mapping[str, tuple[int, float]] = field(default_factory=dict)  # kind: how many, seconds
    brief: Mapping[str, tuple[int, float]] = field(default_factory=dict)
    full_at: float = 0.0
    interrupted: int = 0


def ticks(seconds: float) -> int:
    return BEGIN_TICKS + round(seconds * 1e9 / TICK)


def events(told: Sequence[Event]) -> Array:
    made = np.zeros(len(told), EVENT)
    for at, (kind, begin, end, label, count) in enumerate(told):
        made[at] = (ticks(begin), ticks(end), count, label, 0, NUMBER[kind], 0)
    return made


def written(
    file: Path,
    threads: Sequence[Made],
    seconds: float = 1.0,
    *,
    pid: int = 4711,
    version: int = VERSION,
    state: int = 1,
    command: str = "./trees --threads 4",
    at_least_ns: int = 0,
    lost_elsewhere: int = 0,
) -> Path:
    end = (BEGIN_TICKS + round(seconds * 1e9 / TICK), BEGIN_NS + round(seconds * 1e9))
    clocks = (BEGIN_TICKS, BEGIN_NS, *end, 1_760_000_000_000_000_000, lost_elsewhere)
    parts = [HEADER.pack(MAGIC, version, state, pid, len(KINDS), len(threads), 100_000, at_least_ns, *clocks, command.encode())]
    parts += [KIND.pack(name.encode(), at, FORMS.index(form)) for at, (name, form) in enumerate(KINDS)]
    for number, one in enumerate(threads):
        full_at = ticks(one.full_at) if one.full_at else 0
        parts.append(THREAD.pack(one.tid, number, 0, len(one.events), one.interrupted, full_at, one.name.encode()))
        for unkept in (one.brief, one.lost):
            tallies = np.zeros(len(KINDS), TALLY)
            for kind, (many, lasted) in unkept.items():
                tallies[NUMBER[kind]] = (many, round(lasted * 1e9 / TICK))
            parts.append(tallies.tobytes())
    for number, one in enumerate(threads):
        numbered = one.events.copy()
        numbered["thread"] = number
        parts.append(numbered.tobytes())
    file.write_bytes(b"".join(parts))
    return file


def small(file: Path) -> Path:
    """Two threads of a second, every figure of which can be said by heart."""
    first = events(
        [
            ("batch free", 0.1, 0.2, 1, 1000),
            ("epoch advance", 0.25, 0.25, 2, 0),
            ("unreclaimed", 0.26, 0.26, 2, 300),
            ("post", 0.42, 0.43, 7, 4096),
            ("batch free", 0.4, 0.5, 2, 2000),
            ("unreclaimed", 0.6, 0.6, 3, 500),
        ]
    )
    second = events([("unreclaimed", 0.3, 0.3, 2, 100), ("batch free", 0.7, 0.9, 2, 10), ("token pass", 0.95, 0.95, 1, 0)])
    return written(file, [Made(100, "main", first), Made(101, "worker", second)])


def trees(file: Path, threads: int = 8, events_a_thread: int = 2000, seconds: float = 5.0) -> Path:
    """Threads that free a batch, now and then a long one, in each epoch, and one of them changes it."""
    random = np.random.default_rng(3)
    epochs = max(2, events_a_thread // 3)
    starts = np.sort(random.uniform(0, seconds * 0.97, epochs))
    advancer = random.integers(0, threads, epochs)
    made = []
    for thread in range(threads):
        begin = np.minimum(starts + random.exponential(seconds / epochs / 4, epochs), seconds * 0.99)
        lasted = random.exponential(seconds / epochs / 5, epochs) * np.where(random.random(epochs) < 0.01, 20, 1)
        room = np.diff(np.append(begin, seconds))
        lasted = np.clip(lasted, 0, np.maximum(room, 0) * 0.95)
        mine = np.flatnonzero(advancer == thread)
        kept = np.zeros(2 * epochs + len(mine), EVENT)
        garbage = random.poisson(4000, epochs) + np.linspace(0, 3000, epochs).astype(np.int64)
        at = BEGIN_TICKS + np.concatenate([begin, starts[mine], begin]) * 1e9 / TICK
        kept["start"] = at.astype(np.uint64)
        kept["end"] = (at + np.concatenate([lasted, np.zeros(len(mine) + epochs)]) * 1e9 / TICK).astype(np.uint64)
        kept["label"] = np.concatenate([np.arange(epochs), mine + 1, np.arange(epochs)])
        kept["count"] = np.concatenate([garbage, np.zeros(len(mine), np.int64), garbage])
        kept["kind"] = [NUMBER["batch free"]] * epochs + [NUMBER["epoch advance"]] * len(mine) + [NUMBER["unreclaimed"]] * epochs
        made.append(Made(2000 + thread, "worker", kept[np.argsort(kept["end"], kind="stable")]))
    return written(file, made, seconds, command=f"./trees --threads {threads}")


if __name__ == "__main__":
    trees(Path(sys.argv[1]), *(int(word) for word in sys.argv[2:4]))
