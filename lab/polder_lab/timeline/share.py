"""How much of the threads' time went into what, and how much was left unreclaimed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from polder_lab.timeline.recording import Array, Recording

FREEING = ("batch free", "single free")


@dataclass(frozen=True)
class Share:
    kind: str
    events: int  # in the file
    lost: int
    brief: int
    seconds: float  # of all three
    share: float  # of the threads' time
    median: float  # of those in the file, as the next
    longest: float
    count: int  # objects or bytes, as the kind counts


@dataclass(frozen=True)
class Epochs:
    epoch: Array
    mean: Array  # objects, over the threads that told
    most: Array
    threads: Array
    at: Array  # seconds: when the first told


def shares(recording: Recording, seconds: float, whole: bool) -> list[Share]:
    """Of the time of all threads together. What was seen and not kept counts where the whole recording is looked at."""
    found = []
    available = seconds * max(1, len(recording.threads))
    for at, kind in enumerate(recording.kinds):
        chosen = recording.kind == at
        lasted = (recording.end - recording.begin)[chosen]
        lost = [t.lost[kind.name] for t in recording.threads if kind.name in t.lost] if whole else []
        brief = [t.brief[kind.name] for t in recording.threads if kind.name in t.brief] if whole else []
        if not len(lasted) and not lost and not brief:
            continue
        total = float(lasted.sum()) + sum(one.seconds for one in lost) + sum(one.seconds for one in brief)
        is_interval = kind.form == "interval"
        found.append(
            Share(
                kind.name,
                len(lasted),
                sum(one.count for one in lost),
                sum(one.count for one in brief),
                total if is_interval else 0.0,
                total / available if is_interval else 0.0,
                float(np.median(lasted)) if len(lasted) else 0.0,
                float(lasted.max()) if len(lasted) else 0.0,
                int(recording.count[chosen].sum()) if kind.form != "gauge" else 0,
            )
        )
    return found


def freeing(found: Sequence[Share]) -> float | None:
    """Of the threads' time; nothing where nothing of the kind was recorded."""
    kept = [one.share for one in found if one.kind in FREEING]
    return sum(kept) if kept else None


def unreclaimed(recording: Recording) -> Epochs | None:
    """By epoch. A thread that told twice in one counts with what it told last."""
    told = recording.named("unreclaimed")
    if not told.any():
        return None
    label, row, count, begin = (column[told] for column in (recording.label, recording.row, recording.count, recording.begin))
    order = np.lexsort((begin, row, label))
    label, row, count, begin = label[order], row[order], count[order].astype(np.float64), begin[order]
    last = np.append((label[1:] != label[:-1]) | (row[1:] != row[:-1]), True)
    label, count, begin = label[last], count[last], begin[last]
    epoch, first, threads = np.unique(label, return_index=True, return_counts=True)
    return Epochs(
        epoch, np.add.reduceat(count, first) / threads, np.maximum.reduceat(count, first), threads, np.minimum.reduceat(begin, first)
    )
