"""Does the laboratory measure the heaps, and not itself? Two experiments whose answers are known.

Cost: the same workload, started bare and by the launcher, and looked at by the sampler: the ratios should be 1.
A/A: one library twice, under two names, over many rows. Of intervals at 95 % one in twenty excludes 1 by chance, and of
twenty rows more than one do in a quarter of all tests; so rows that exclude it are measured once more, from the beginning.
What is no accident comes again.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from polder_lab.complaint import Complaint
from polder_lab.experiment import Experiment, Terms, Watcher
from polder_lab.heap import Heap
from polder_lab.instrument import SAMPLING_SECONDS
from polder_lab.interval import Ratio, paired_ratio
from polder_lab.launch import Launcher, inherited
from polder_lab.outcome import Outcome
from polder_lab.place import Place
from polder_lab.row import Row, Wanted, workload_rows
from polder_lab.workload import QUICK, listed

COST_LIMIT = 1.01
COST_ROUNDS = 5  # for each of the A/A's: one row is shorter than twenty, and its intervals must be narrow
AA_ROWS = 20
AA_EXCLUDED = 1


@dataclass(frozen=True)
class Cost:
    what: str
    ratio: Ratio
    own_share: float | None  # of a core, that the launcher itself used

    @property
    def verdict(self) -> str:
        if self.ratio.high is not None and self.ratio.high < COST_LIMIT:
            return "under 1 %"
        if self.ratio.low is not None and self.ratio.low > COST_LIMIT:
            return "ABOVE 1 %"
        return "not decided: more rounds, or a quieter machine"


def costs(place: Place, launcher: Launcher, rounds: int, lot: random.Random, watcher: Watcher) -> list[Cost]:
    """The compared figure of one workload in one thread, in three ways, in rounds, in random order."""
    workload = listed(place)[0]
    command = workload.command(place.bench, 1, None, seed=1)
    own: dict[str, float] = {}

    def bare() -> float:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=inherited())
        return float(json.loads(done.stdout)["seconds"])

    def launched(sample: float, name: str) -> float:
        run = launcher.run(command, result_line=True, sample=sample)
        if run.trouble:
            raise Complaint(f"{workload.name} {run.trouble}")
        own[name] = own.get(name, 0) + run.own / run.wall
        return run.seconds

    ways: dict[str, Callable[[], float]] = {"bare": bare, "launcher": lambda: launched(0, "launcher"),
                                            "sampler": lambda: launched(SAMPLING_SECONDS, "sampler")}
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    rounds *= COST_ROUNDS
    bare()
    for number in range(rounds):
        watcher.phase(f"cost of the harness, round {number + 1} of {rounds}")
        for name in lot.sample(list(ways), len(ways)):
            seconds[name].append(ways[name]())
    return [Cost(what, paired_ratio(seconds[name], seconds["bare"]), own[name] / rounds)
            for name, what in (("launcher", "the launcher (pass time)"), ("sampler", "the launcher and the sampler (pass memory)"))]


def twins(heap: Heap, folder: Path) -> list[Heap]:
    """The heap, and a copy of its library under another name; the system's malloc has none, and is simply taken twice."""
    if heap.library is None:
        return [heap, replace(heap, name=f"{heap.name}-again")]
    copy = folder / f"lib{heap.name}-again.so"
    shutil.copy(heap.library, copy)
    return [heap, replace(heap, name=f"{heap.name}-again", kind="file", library=copy)]


@dataclass(frozen=True)
class Twin:
    """A row of the A/A. again: what a second experiment said, about a row of which the first said "different"."""

    title: str
    ratio: Ratio
    again: Ratio | None = None

    @property
    def differs(self) -> bool:
        return differs(self.ratio) and (self.again is None or self.again.verdict == self.ratio.verdict)


def differs(ratio: Ratio) -> bool:
    return ratio.verdict in ("better", "worse")


@dataclass(frozen=True)
class Twins:
    rows: list[Twin]
    outcomes: list[Outcome]

    @property
    def first(self) -> int:
        """How many intervals of the first experiment exclude 1."""
        return sum(differs(twin.ratio) for twin in self.rows)

    @property
    def differing(self) -> int:
        return sum(twin.differs for twin in self.rows)

    @property
    def well(self) -> bool:
        return bool(self.rows) and self.differing <= AA_EXCLUDED


def a_against_a(place: Place, launcher: Launcher, heap: Heap, rounds: int, seed: int, watcher: Watcher) -> Twins:
    rows: list[Row] = []
    for preset in (QUICK, None):
        if len(rows) < AA_ROWS:
            rows += workload_rows(place, Wanted(threads=(1, 2), preset=preset, seed=seed), [])
    pair = twins(heap, launcher.scratch)

    def measure(of: Sequence[Row], seed: int) -> tuple[Outcome, dict[str, Ratio]]:
        terms = Terms(rounds, 60, 60, seed, prove_once=True)
        outcome = Experiment(list(of), pair, terms, launcher, watcher, harness=place.harness).run()
        return outcome, {r.row.title: ratio for r in outcome.rows if (ratio := r.ratio(pair[1].name, "seconds"))}

    outcome, ratios = measure(rows[:AA_ROWS], seed)
    found = Twins([Twin(title, ratio) for title, ratio in ratios.items()], [outcome])
    if found.first <= AA_EXCLUDED or outcome.interrupted:
        return found
    watcher.phase(f"{found.first} rows once more")
    second, again = measure([r.row for r in outcome.rows if r.row.title in ratios and differs(ratios[r.row.title])], seed + 1)
    return Twins([replace(twin, again=again.get(twin.title)) for twin in found.rows], [outcome, second])
