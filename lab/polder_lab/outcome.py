"""What the runs of an experiment came to: cells of a row and a heap, and their ratios."""

from __future__ import annotations

import statistics
from collections.abc import Collection
from dataclasses import dataclass, field

from polder_lab.by_round import best, of_both, ratio
from polder_lab.heap import Heap
from polder_lab.interval import Pairs, Ratio, ratio_of
from polder_lab.launch import Run
from polder_lab.row import Row


@dataclass
class Cell:
    """One row under one heap: the timed runs by round, in order."""

    by_round: dict[int, Run] = field(default_factory=dict)
    trouble: str = ""

    @property
    def runs(self) -> list[Run]:
        return list(self.by_round.values())

    def median(self, metric: str) -> float:
        return statistics.median(float(getattr(run, metric)) for run in self.runs)

    def costs(self, metric: str, rounds: int | None = None) -> dict[int, float]:
        """By round, of the first so many or of all."""
        return {number: cost(run, metric) for number, run in self.by_round.items() if rounds is None or number < rounds}


@dataclass
class RowOutcome:
    row: Row
    cells: dict[str, Cell]  # that of the base first
    output_varies: bool = False  # of itself, under the base: then it cannot be compared

    @property
    def base(self) -> Cell:
        return next(iter(self.cells.values()))

    @property
    def per_operation(self) -> bool:
        """Operations differ among runs where a workload runs for a fixed time; then time alone says nothing."""
        counts = [run.operations for cell in self.cells.values() for run in cell.runs]
        return bool(counts) and None not in counts and max(c or 0 for c in counts) > 1.01 * min(c or 0 for c in counts)

    def times(self, cell: Cell) -> list[float]:
        """Seconds of the cell's runs, or of an operation of theirs."""
        return list(cell.costs("seconds").values()) if self.per_operation else [run.seconds for run in cell.runs]

    def pairs(self, heap: str, metric: str) -> Pairs | None:
        pairs = of_both(self.cells[heap].costs(metric), self.base.costs(metric))
        return pairs if pairs and not self.cells[heap].trouble and not self.base.trouble else None

    def ratio(self, heap: str, metric: str) -> Ratio | None:
        pairs = self.pairs(heap, metric)
        return ratio_of(pairs) if pairs else None


def cost(run: Run, metric: str) -> float:
    """A workload may run for a fixed time instead of a fixed number of operations: compared is time per operation."""
    if metric == "seconds" and run.operations:
        return max(run.seconds, 1e-9) / run.operations
    return max(float(getattr(run, metric)), 1e-9)


@dataclass
class Outcome:
    heaps: list[Heap]  # without the base
    rows: list[RowOutcome]
    rounds: int
    seed: int
    interrupted: bool = False
    others_share: float = 0.0
    seconds: float = 0.0

    @property
    def troubles(self) -> list[tuple[str, str, str]]:
        return [(r.row.title, name, cell.trouble) for r in self.rows for name, cell in r.cells.items() if cell.trouble]


def narrow(result: RowOutcome, until: float) -> bool:
    """Are the intervals of all the row's ratios no wider than `until` of the ratio, to either side?"""
    ratios = [ratio for name in list(result.cells)[1:] if (ratio := result.ratio(name, "seconds"))]
    return bool(ratios) and all(r.low is not None and r.high is not None and (r.high - r.low) / 2 <= until * r.value for r in ratios)


def beaten(result: RowOutcome, peers: Collection[str], rounds: int) -> set[str]:
    """Those of the peers that certainly take longer than the best one of the row, by so many rounds.

    Of ten medians the lowest is low by chance, too, and the more so the fewer rounds there are: three rounds of 107 rows had a heap at
    1.024 of the best peers that six had at 1.006. So rounds are many, and all who are certainly not the best leave them to the others.
    """
    costs = {name: result.cells[name].costs("seconds", rounds) for name in peers if not result.cells[name].trouble}
    ahead = best(costs)
    to_it = {name: ratio(of, costs[ahead]) for name, of in costs.items() if ahead}
    return {name for name, found in to_it.items() if found and found.low is not None and found.low > 1}
