"""A figure of the thesis that is a timeline: recorded here and now, drawn, with what it shows in numbers beneath.

One recording shows; it proves nothing. So what is claimed of two ways to free is measured too: rounds without a recording,
interleaved, with a ratio and its interval.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from polder_lab import heap as heaps_of
from polder_lab.complaint import Complaint
from polder_lab.figure.part import Paper
from polder_lab.heap import Heap
from polder_lab.interval import FEWEST_ROUNDS, Ratio, paired_ratio
from polder_lab.launch import Launcher, Run
from polder_lab.place import Place
from polder_lab.proof import witness
from polder_lab.report import units
from polder_lab.timeline import recording, share
from polder_lab.timeline.recording import Recording
from polder_lab.timeline.share import shares

KEYS = 1_000_000
LIMIT = 120.0
WARM_UP_MILLISECONDS = 20


@dataclass(frozen=True)
class Setup:
    """What is run: the workload `set`, under an allocator."""

    label: str
    heaps: tuple[str, ...]  # the first that is there
    settings: Mapping[str, str]
    milliseconds: int = 2000  # a thread's buffer of events lasts for about half a second of single frees
    recorded: bool = True  # else it is only measured, for what the other is set against

    def command(self, place: Place, threads: int, milliseconds: int, more: Sequence[str] = ()) -> list[str]:
        settings = {"structure": "abtree", "keys": str(KEYS), **self.settings, "milliseconds": str(milliseconds)}
        words = [word for pair in settings.items() for word in ("--param", "=".join(pair))]
        return [str(place.bench), "run", "set", "--threads", str(threads), *words, *more]

    def heap(self, place: Place) -> Heap:
        found = [heaps_of.find(name, place) for name in self.heaps]
        there = next((heap for heap in found if heap.present), None)
        if there is None:
            raise Complaint(f"{self.heaps[0]} is not there ({found[0].how_to_get})")
        return there


@dataclass(frozen=True)
class Timeline:
    name: str
    paper: Paper
    number: str
    caption: str
    statement: str
    setups: tuple[Setup, ...]  # the first is the figure's; a second is what it is set against
    differs: str
    threads: int = 8
    zoom: bool = False  # its part b is a closer look
    needs: tuple[str, ...] = ()  # parameters of the workload
    measure: str = "ops"  # what is compared: operations a second

    @property
    def command(self) -> str:
        return f"./polder figure {self.name}"


@dataclass(frozen=True)
class Shown:
    """One recording."""

    setup: Setup
    heap: Heap
    recording: Recording
    run: Run
    facts: list[tuple[str, str]]


@dataclass(frozen=True)
class Compared:
    what: str
    ratio: Ratio
    rounds: int


def record(figure: Timeline, place: Place, launcher: Launcher, folder: Path, say: Callable[[str], None]) -> list[Shown]:
    made = []
    for at, setup in enumerate(one for one in figure.setups if one.recorded):
        heap = setup.heap(place)
        file = folder / f"{figure.name}{'-against' if at else ''}.timeline"
        file.unlink(missing_ok=True)
        prove(launcher, setup, heap, setup.command(place, figure.threads, WARM_UP_MILLISECONDS))
        say(f"  recording {setup.label} under {heap.name}: {setup.milliseconds} ms, {figure.threads} threads")
        run = launched(launcher, setup, heap, setup.command(place, figure.threads, setup.milliseconds, ("--timeline", str(file))))
        of = recording.read([file])
        made.append(Shown(setup, heap, of, run, facts(of, run)))
    return made


def prove(launcher: Launcher, setup: Setup, heap: Heap, command: Sequence[str]) -> None:
    """A short run that shows nothing: did the heap really serve malloc?"""
    with witness(launcher.scratch / "witness") as seen:
        run = launcher.run(command, extra={**heap.environment, **seen.extra}, limit=LIMIT, result_line=True)
        if trouble := run.trouble or seen.objection(heap, run.pid):
            raise Complaint(f"{setup.label} under {heap.name}: {trouble}")


def launched(launcher: Launcher, setup: Setup, heap: Heap, command: Sequence[str]) -> Run:
    run = launcher.run(command, extra=heap.environment, limit=LIMIT, result_line=True)
    if run.trouble:
        raise Complaint(f"{setup.label} under {heap.name}: {run.trouble}")
    return run


ROUND_MILLISECONDS = 500
COMPARED: tuple[tuple[str, Callable[[Run], float | None]], ...] = (
    ("operations a second", lambda run: (run.operations or 0) / run.seconds if run.seconds else None),
    ("99.9 % of operations within", lambda run: told(run, "operation_p999_ns")),
    ("unreclaimed at the peak", lambda run: told(run, "unreclaimed_peak")),
    ("peak memory", lambda run: float(run.peak_rss)),
)


def told(run: Run, name: str) -> float | None:
    value = (run.told.get("counts") or {}).get(name)
    return float(value) if isinstance(value, int | float) else None


def compare(figure: Timeline, place: Place, launcher: Launcher, seed: int, say: Callable[[str], None]) -> list[Compared]:
    """The first setup over the second, by rounds in which either comes first."""
    if len(figure.setups) < 2:
        return []
    lot, sides = random.Random(seed), [(setup, setup.heap(place)) for setup in figure.setups[:2]]
    for setup, heap in sides:
        prove(launcher, setup, heap, setup.command(place, figure.threads, WARM_UP_MILLISECONDS))
    runs: list[list[Run]] = [[], []]
    for number in range(FEWEST_ROUNDS):
        say(f"  round {number + 1} of {FEWEST_ROUNDS}, without recording")
        for side in lot.sample((0, 1), 2):
            setup, heap = sides[side]
            command = setup.command(place, figure.threads, ROUND_MILLISECONDS, ("--param", "timed=64"))
            runs[side].append(launched(launcher, setup, heap, command))
    found = []
    for what, value in COMPARED:
        pairs = [(a, b) for one, other in zip(*runs, strict=True) if (a := value(one)) and (b := value(other))]
        if pairs:
            found.append(Compared(what, paired_ratio([a for a, _ in pairs], [b for _, b in pairs]), len(pairs)))
    return found


# What a recording says in numbers.

MOVES = {"epoch advance": "epoch advances", "token pass": "token passes"}


def facts(of: Recording, run: Run) -> list[tuple[str, str]]:
    found = shares(of, of.seconds, True)
    by = {one.kind: one for one in found}
    freeing = share.freeing(found)
    batches, singles, operations = by.get("batch free"), by.get("single free"), by.get("operation")
    longest = max((one.longest for one in (batches, singles) if one), default=0.0)
    made = [
        ("operations a second, this run", units.count(run.operations / run.seconds) if run.operations and run.seconds else ""),
        ("share of the threads' time in freeing", f"{freeing:.2%}" if freeing is not None else ""),
        ("batches", f"{batches.events:,}" if batches else ""),
        ("single frees", f"{singles.events + singles.lost + singles.brief:,}" if singles else ""),
        ("longest batch or free", units.seconds(longest) if longest else ""),
        ("recorded operations", f"{operations.events:,}; median {units.seconds(operations.median)}, longest "
         f"{units.seconds(operations.longest)}" if operations else ""),
        *moves(of),
        *garbage(of),
    ]
    return [(name, value) for name, value in made if value]


def moves(of: Recording) -> list[tuple[str, str]]:
    """Epochs, and the longest time without one: the white columns."""
    made = []
    for name, several in MOVES.items():
        at = np.sort(of.begin[of.named(name)])
        if len(at) < 2:
            continue
        gaps = np.diff(np.concatenate([[0.0], at, [of.seconds]]))
        longest = f"{units.seconds(float(gaps.max()))}, {gaps.max() / of.seconds:.0%} of the recording"
        made += [(several, f"{len(at):,}"), (f"longest time without one of the {several}",
                                             f"{longest}; median {units.seconds(float(np.median(gaps)))}")]
    return made


def garbage(of: Recording) -> list[tuple[str, str]]:
    """Early against late, since garbage that piles up is told by its growth. In the order of time, for a token's comings are
    counted by each thread from its own first."""
    chosen = of.named("unreclaimed")
    held = of.count[chosen].astype(np.float64)[np.argsort(of.begin[chosen])]
    quarter = len(held) // 4
    if not quarter:
        return []
    early, late = float(held[:quarter].mean()), float(held[-quarter:].mean())
    return [
        ("unreclaimed objects of a thread, mean", units.count(float(held.mean()))),
        ("in the first and in the last quarter of the epochs", f"{units.count(early)} and {units.count(late)}"),
        ("most of one thread", units.count(float(held.max()))),
    ]


def closer(of: Recording) -> tuple[float, float]:
    """A window around the longest batch, a twentieth of the time."""
    chosen = of.named("batch free")
    if not chosen.any():
        return 0.0, of.seconds / 20
    lasted = (of.end - of.begin)[chosen]
    middle = float((of.begin[chosen] + of.end[chosen])[int(lasted.argmax())] / 2)
    width = max(of.seconds / 20, 2 * float(lasted.max()))
    low = min(max(0.0, middle - width / 2), max(0.0, of.seconds - width))
    return low, min(of.seconds, low + width)
