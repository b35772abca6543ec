"""All runs in order.

First every row once under every subject: not counted; it fills the caches, proves the heap (proof.py) and sets the
output that every later run must print. Then rounds: in each, the rows in random order, and within a row and an instrument
the subjects back to back in random order, so that the runs of a pair share the machine's mood and neither side is always
first. Rows that are compared with each other are taken as one: subject after subject in random order, and under each all
these rows back to back, in random order too. A run that crashes, hangs or prints something else ends its cell, never the
experiment.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Protocol

from polder_lab.heap import PEER_KINDS, Heap
from polder_lab.instrument import TIME, Instrument
from polder_lab.interval import FEWEST_ROUNDS
from polder_lab.launch import Launcher, Run, end_what_runs
from polder_lab.outcome import Cell, Outcome, RowOutcome, beaten, narrow
from polder_lab.proof import witness
from polder_lab.row import Row
from polder_lab.unchanging import Unchanging
from polder_lab.warmth import warm

MOST_ROUNDS = 20
GUESS = 0.5  # seconds of a run of which nothing is known yet


class Watcher(Protocol):
    """Told how it goes; shows it."""

    def phase(self, text: str) -> None: ...

    def step(self, what: str, done: float, left: float) -> None:
        """done and left in seconds of measuring."""


class Keeper:
    """Told of each thing as soon as it is finished. This one keeps nothing."""

    def before(self, number: int) -> None:
        """Round `number` begins."""

    def ran(self, instrument: str, number: int, row: Row, heap: Heap, run: Run) -> None: ...

    def absent(self, what: str, why: str) -> None: ...


@dataclass(frozen=True)
class Earlier:
    """A repetition that an interrupted experiment had finished."""

    instrument: str
    number: int
    row: str
    heap: str
    run: Run


@dataclass(frozen=True)
class Terms:
    rounds: int | None  # None: as many as fit into `minutes`
    minutes: float
    limit: float
    seed: int
    fewest: int = FEWEST_ROUNDS  # even when they do not fit
    most: int = MOST_ROUNDS
    punctual: bool = False  # when the minutes are over no row is begun
    until: float = 0  # a row whose intervals are all this narrow, relative to the ratio to either side, is done
    prove_once: bool = False  # the workloads are all one program: one proof a heap stands for all of them
    needs_base: bool = True  # without the base a row is not worth measuring
    longest: float | None = None  # a row whose first run under the base takes longer is left out, and named
    contest: bool = False  # a peer that is certainly not the best of a row has no further rounds of it


class Experiment:
    """subjects[0] is the base, to which the others are compared; harness is what workloads are made of."""

    def __init__(self, rows: Sequence[Row], subjects: Sequence[Heap], terms: Terms, launcher: Launcher, watcher: Watcher, *,
                 instruments: Sequence[Instrument] = (TIME,), keeper: Keeper | None = None, earlier: Iterable[Earlier] = (),
                 harness: Iterable[Path] = ()) -> None:
        self.subjects = list(subjects)
        self.base = self.subjects[0]
        self.terms = terms
        self.launcher = launcher
        self.watcher = watcher
        self.instruments = list(instruments)
        self.keeper = keeper or Keeper()
        self.lot = random.Random(terms.seed)
        self.outcome = Outcome(self.subjects[1:], [RowOutcome(row, {h.name: Cell() for h in self.subjects}) for row in rows], 0, terms.seed)
        self.expected: dict[tuple[int, str, str], float] = {}  # seconds that a run of (row, heap, instrument) takes
        self.largest: dict[int, int] = {}  # bytes that a run of the row has taken, at most so far
        self.first: dict[int, str] = {}  # the output that each row must print
        self.rounds: list[int] | None = None  # of each row, once it is known how long a round takes
        self.ended: set[tuple[int, str, str]] = set()  # (row, heap, instrument) with a trouble
        self.beaten: set[tuple[int, str]] = set()  # (row, heap) that are timed no longer
        self.done: set[tuple[str, int, int, str]] = set()  # (instrument, round, row, heap)
        self.proven: set[tuple[str, str]] = set()  # (program, heap)
        self.spent = 0.0
        self.files = Unchanging([*(file for row in rows for file in row.files), *(h.library for h in self.subjects if h.library),
                                 *(harness if any(row.kind == "workload" for row in rows) else ())])
        self.start = time.monotonic()
        self.recall(earlier)

    def recall(self, earlier: Iterable[Earlier]) -> None:
        places = {result.row.id: index for index, result in enumerate(self.outcome.rows)}
        for one in earlier:
            if (index := places.get(one.row)) is not None and one.heap in self.outcome.rows[index].cells:
                # Who failed its proof has a run of the pass time, whichever passes were asked for.
                instrument = next((i for i in (*self.instruments, TIME) if i.name == one.instrument), None)
                self.done.add((one.instrument, one.number, index, one.heap))
                if instrument is not None:
                    self.take(instrument, one.number, index, one.heap, one.run)

    def run(self) -> Outcome:
        """An interruption ends it; what is finished stays."""
        self.start = time.monotonic()
        try:
            self.warm_up()
            self.measure()
        except KeyboardInterrupt:
            end_what_runs()
            self.outcome.interrupted = True
            for result in self.outcome.rows:
                for cell in result.cells.values():
                    cell.by_round.pop(self.outcome.rounds, None)
        self.outcome.seconds = time.monotonic() - self.start
        return self.outcome

    # One run.

    def launch(self, row: Row, heap: Heap, instrument: Instrument = TIME, more: dict[str, str] | None = None) -> Run:
        before = time.monotonic()
        extra = row.environment({**heap.environment, **(more or {})})
        run = instrument.run(self.launcher, row, extra, self.terms.limit * instrument.slowness)
        self.spent += time.monotonic() - before
        return run

    def measured(self, instrument: Instrument, number: int, index: int, heap: Heap) -> None:
        row = self.outcome.rows[index].row
        warm(self.largest.get(index, 0))
        run = self.launch(row, heap, instrument)
        self.files.check()
        if not run.trouble and not instrument.small:
            run = replace(run, trouble=self.difference(index, run))
        self.take(instrument, number, index, heap.name, run)
        self.keeper.ran(instrument.name, number, row, heap, run)

    def take(self, instrument: Instrument, number: int, index: int, name: str, run: Run) -> None:
        cell = self.outcome.rows[index].cells[name]
        if run.trouble:
            self.end(index, name, instrument, run.trouble)
            return
        key = (index, name, instrument.name)
        self.expected[key] = (self.expected.get(key, run.wall) + run.wall) / 2
        self.largest[index] = max(self.largest.get(index, 0), run.peak_rss)
        if instrument is TIME:
            cell.by_round[number] = run

    def end(self, index: int, name: str, instrument: Instrument, trouble: str) -> None:
        for other in [instrument] if instrument.foreign else self.instruments:
            self.ended.add((index, name, other.name))
        if not instrument.foreign:
            self.outcome.rows[index].cells[name].trouble = trouble

    # The first run of each cell.

    def warm_up(self) -> None:
        self.watcher.phase("warming up")
        todo = list(self.unproven())
        before = self.spent
        for done, (index, heap) in enumerate(todo):
            if self.serves(index, heap):
                continue
            result = self.outcome.rows[index]
            left = sum(not self.serves(*later) for later in todo[done:]) * ((self.spent - before) / done if done else 1.0)
            self.watcher.step(f"{result.row.title} under {heap.name}", self.spent, left)
            if heap is self.base or self.worth(index):
                self.prove(index, heap)

    def unproven(self) -> Iterator[tuple[int, Heap]]:
        """What has still something to be measured; the base comes first."""
        for index in range(len(self.outcome.rows)):
            for heap in self.subjects:
                if heap is self.base or any((index, heap.name, i.name) not in self.ended for i in self.instruments):
                    yield index, heap

    def serves(self, index: int, heap: Heap) -> bool:
        """Is another row's proof good for this one too?"""
        row = self.outcome.rows[index].row
        return self.terms.prove_once and row.kind == "workload" and (row.command[0], heap.name) in self.proven

    def worth(self, index: int) -> bool:
        return not (self.terms.needs_base and self.outcome.rows[index].base.trouble) and not self.left_away(index)

    def left_away(self, index: int) -> bool:
        return all((index, heap.name, i.name) in self.ended for heap in self.subjects for i in self.instruments)

    def prove(self, index: int, heap: Heap) -> None:
        result = self.outcome.rows[index]
        with witness(self.launcher.scratch / "witness") as seen:
            run = self.launch(result.row, heap, more=seen.extra)
            trouble = run.trouble or seen.objection(heap, run.pid)
        if not run.trouble:
            self.largest[index] = max(self.largest.get(index, 0), run.peak_rss)
        self.expected.setdefault((index, heap.name, TIME.name), run.wall)
        if heap is self.base and not trouble:
            self.first[index] = run.output
            if result.row.kind == "command":
                result.output_varies = self.launch(result.row, heap).output != run.output
            if self.terms.longest is not None and run.wall > self.terms.longest:
                self.leave_away(index, f"takes {run.wall:.0f} s, longer than {self.terms.longest:g} s")
        trouble = trouble or self.difference(index, run)
        if not trouble:
            self.proven.add((result.row.command[0], heap.name))
        else:
            told = result.cells[heap.name].trouble  # by an earlier part of the experiment
            self.end(index, heap.name, TIME, trouble)
            if not told:
                number = next(n for n in count() if (TIME.name, n, index, heap.name) not in self.done)
                self.keeper.ran(TIME.name, number, result.row, heap, replace(run, trouble=trouble))

    def leave_away(self, index: int, why: str) -> None:
        self.keeper.absent(self.outcome.rows[index].row.id, why)
        self.ended |= {(index, heap.name, i.name) for heap in self.subjects for i in self.instruments}

    def difference(self, index: int, run: Run) -> str:
        """The output is compared with that of the base, where it has one."""
        same = self.outcome.rows[index].output_varies or run.output == self.first.get(index, run.output)
        return "" if same else "prints something else than under the system's malloc"

    # Rounds.

    def standing(self, index: int, instrument: Instrument) -> list[Heap]:
        heaps = [h for h in self.subjects if (index, h.name, instrument.name) not in self.ended
                 and not (instrument is TIME and (index, h.name) in self.beaten)]
        if self.terms.needs_base and (self.base not in heaps or len(heaps) == 1):
            return []
        return heaps

    def due(self, number: int, index: int, instrument: Instrument) -> list[Heap]:
        """Under which heaps the instrument is still to be used on the row in this round."""
        rounds = self.rounds[index] if self.rounds else self.terms.rounds or number + 1
        last = rounds if instrument.repeats is None else min(instrument.repeats, self.terms.rounds or instrument.repeats)
        if number >= last or not instrument.fits(self.outcome.rows[index].row):
            return []
        heaps = self.standing(index, instrument)[:1 if instrument.base_only else None]
        return [h for h in heaps if (instrument.name, number, index, h.name) not in self.done]

    def seconds_of(self, index: int, heap: Heap, instrument: Instrument) -> float:
        timed = self.expected.get((index, heap.name, TIME.name), GUESS)
        return self.expected.get((index, heap.name, instrument.name), timed * instrument.slowness)

    def seconds_of_round(self, number: int) -> float:
        return sum(self.seconds_of(index, heap, i) for index in range(len(self.outcome.rows)) for i in self.instruments
                   for heap in self.due(number, index, i))

    def timed_seconds(self, index: int) -> float:
        return sum(self.seconds_of(index, heap, TIME) for heap in self.standing(index, TIME))

    def left(self) -> float:
        return self.terms.minutes * 60 - (time.monotonic() - self.start)

    def settle_rounds(self, number: int) -> None:
        """Fixes how many rounds each row gets, as soon as it is known how long each takes."""
        rows = range(len(self.outcome.rows))
        if self.terms.rounds is not None:
            self.rounds = [self.terms.rounds for _ in rows]
        elif all((index, heap.name, TIME.name) in self.expected for index in rows for heap in self.standing(index, TIME)):
            aside = sum(self.seconds_of(index, heap, i) for n in range(number, 1 + max((i.repeats or 0) for i in self.instruments))
                        for index in rows for i in self.instruments if i is not TIME for heap in self.due(n, index, i))
            earlier = [max([number, *(1 + r for cell in self.outcome.rows[index].cells.values() for r in cell.by_round)]) for index in rows]
            more = allot([self.timed_seconds(index) for index in rows], self.left() - aside,
                         max(0, self.terms.fewest - min(earlier)), max(0, self.terms.most - min(earlier)),
                         max(0, FEWEST_ROUNDS - min(earlier)))
            self.rounds = [before + extra for before, extra in zip(earlier, more, strict=True)]
        if self.rounds and TIME not in self.instruments:
            self.rounds = [0 for _ in rows]

    def last_round(self) -> int:
        repeats = [min(i.repeats, self.terms.rounds or i.repeats) for i in self.instruments if i.repeats is not None]
        return max([*(self.rounds or [1]), *repeats])

    def measure(self) -> None:
        number = 0
        self.settle_rounds(number)
        while number < self.last_round():
            if not any(self.standing(index, i) for index in range(len(self.outcome.rows)) for i in self.instruments):
                return
            self.watcher.phase(f"round {number + 1} of {self.last_round()}" if self.rounds else f"round {number + 1}")
            if not self.round(number):
                return
            number += 1
            self.outcome.rounds = number
            if self.leave_beaten(number) or self.rounds is None:
                self.settle_rounds(number)
            self.leave_narrow(number)

    def round(self, number: int) -> bool:
        """False: the time was over before the round was."""
        order = self.units([index for index in range(len(self.outcome.rows)) if any(self.due(number, index, i) for i in self.instruments)])
        if order:
            self.keeper.before(number)
        self.lot.shuffle(order)
        later = sum(self.seconds_of_round(n) for n in range(number + 1, self.last_round()))
        here = self.seconds_of_round(number)
        for at, unit in enumerate(order):
            if self.terms.punctual and self.left() <= 0:
                if number == 0:
                    for unbegun in (index for later_unit in order[at:] for index in later_unit):
                        self.keeper.absent(self.outcome.rows[unbegun].row.id, "the time was over before its turn")
                return False
            for instrument in self.instruments:
                for index, heap in self.turns(number, unit, instrument):
                    self.watcher.step(f"{self.outcome.rows[index].row.title} under {heap.name}"
                                      + ("" if instrument is TIME else f", {instrument.name}"), self.spent, max(here, 0) + later)
                    self.measured(instrument, number, index, heap)
                    here -= self.seconds_of(index, heap, instrument)
        return True

    def units(self, rows: Sequence[int]) -> list[list[int]]:
        """A row each, or all those that are compared with each other."""
        found: dict[str | int, list[int]] = {}
        for index in rows:
            found.setdefault(self.outcome.rows[index].row.together or index, []).append(index)
        return list(found.values())

    def turns(self, number: int, unit: Sequence[int], instrument: Instrument) -> Iterator[tuple[int, Heap]]:
        due = {index: self.due(number, index, instrument) for index in unit}
        heaps = list(self.subjects)
        self.lot.shuffle(heaps)
        for heap in heaps:
            rows = list(unit)
            self.lot.shuffle(rows)
            for index in rows:
                if heap in due[index]:
                    yield index, heap

    def leave_beaten(self, number: int) -> bool:
        """Whether there are more of them now, so that the time left is enough for more rounds."""
        before = len(self.beaten)
        if self.terms.contest:
            peers = [heap.name for heap in self.subjects if heap.kind in PEER_KINDS]
            self.beaten |= {(index, name) for index, result in enumerate(self.outcome.rows) for name in beaten(result, peers, number)}
        return len(self.beaten) != before

    def leave_narrow(self, number: int) -> None:
        if self.terms.until and self.rounds:
            for index, result in enumerate(self.outcome.rows):
                if narrow(result, self.terms.until):
                    self.rounds[index] = min(self.rounds[index], number)


def allot(costs: Sequence[float], seconds: float, fewest: int, most: int, wanted: int) -> list[int]:
    """Rounds for rows of which one round costs so much: the same number for all where `wanted` fit, since fewer say
    little; where not even those do, first the fewest for all, then as many as wanted for the cheap ones first."""
    fitting = int(seconds / max(sum(costs), 1e-3))
    rounds = [max(fewest, min(most, fitting))] * len(costs)
    left = seconds - sum(costs) * (rounds[0] if rounds else 0)
    for index in sorted(range(len(costs)), key=lambda i: costs[i]):
        extra = wanted - rounds[index]
        if extra > 0 and left >= extra * costs[index]:
            rounds[index] += extra
            left -= extra * costs[index]
    return rounds
