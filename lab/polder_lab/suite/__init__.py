"""The suites of `bench run --suite`, and the rows that they mean here. To add one: a file like reclamation.py, a line in ALL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from polder_lab.complaint import Complaint
from polder_lab.instrument import FREES
from polder_lab.place import Place
from polder_lab.row import Row, matches, means
from polder_lab.suite import peers, reclamation, short_and_long, structures
from polder_lab.suite.described import Choices, Chosen, Comparison, Field, Size, Suite
from polder_lab.workload import listed

__all__ = ["ALL", "Field", "Made", "Suite", "find", "make"]

ALL: tuple[Suite | Field, ...] = (peers.FIELD, reclamation.SUITE, short_and_long.SUITE, structures.SUITE)


def find(name: str) -> Suite | Field:
    for suite in ALL:
        if suite.name == name:
            return suite
    raise Complaint(f"there is no suite '{name}'; there is: {', '.join(suite.name for suite in ALL)}")


@dataclass(frozen=True)
class Made:
    rows: list[Row]
    comparisons: list[dict[str, Any]]  # as the records keep them
    left_out: list[str]


def make(suite: Suite, size: Size, place: Place, only: Sequence[str], threads: Sequence[int], seed: int | None) -> Made:
    """The rows of the comparisons, each once; `only` chooses among them."""
    if not place.bench.exists():
        raise Complaint(f"the workloads are not built: {place.bench} is missing")
    workload = next((w for w in listed(place) if w.name == suite.workload), None)
    if workload is None:
        raise Complaint(f"{place.bench} has no workload {suite.workload}, over which the suite {suite.name} goes")
    choices = Choices(workload, place)
    comparisons = suite.compare(choices, size)
    rows: dict[str, Row] = {}
    unmeant = list(only)
    left_out = suite.absent(choices)
    for comparison in comparisons:
        for count in counts_of(comparison, size, threads):
            for chosen in (one for line in comparison.lines for one in (line.to, line.of)):
                row = row_of(suite, size, choices, chosen, count, comparison.together, seed)
                unmeant = [pattern for pattern in unmeant if not means(pattern, row)]
                if row.id in rows or count > workload.most_threads or not matches(row.name, count, only, row.preset):
                    continue
                if suite.by_threads and (why := choices.refuses(chosen, count)):
                    left_out.append(f"{row.id}: {why}")
                    continue
                rows[row.id] = row
    if unmeant or not rows:
        raise Complaint(f"nothing of the suite {suite.name} matches {', '.join(unmeant or only)}; its rows are named as "
                        f"{suite.workload}:{'.'.join(parameter.upper() for parameter in suite.named_by)}/THREADS")
    return Made(list(rows.values()), [kept(suite, one, counts_of(one, size, threads)) for one in comparisons],
                list(dict.fromkeys(left_out)))


def counts_of(comparison: Comparison, size: Size, threads: Sequence[int]) -> list[int]:
    if not size.brief or comparison.brief == "all":
        return list(threads)
    return [min(threads) if comparison.brief == "fewest" else max(threads)]


def row_of(suite: Suite, size: Size, choices: Choices, chosen: Chosen, threads: int, together: str, seed: int | None) -> Row:
    workload = choices.workload
    settings = {name: value for name, value in {**size.settings, **chosen}.items() if name in workload.parameters}
    without = suite.without(chosen)
    if FREES in workload.parameters and choices.refuses({**frees_of(chosen), FREES: "1"}):
        without |= {FREES}
    said = (word for pair in settings.items() for word in ("--param", "=".join(pair)))
    command = (*workload.command(choices.place.bench, threads, None, seed), *said)
    return Row(workload.name, "workload", command, threads, summary=workload.title, preset=suite.variant(chosen), workload=workload,
               settings=settings, without=without, together=f"{together}/{threads}")


def frees_of(chosen: Chosen) -> Chosen:
    """What decides whether frees can be timed: another library's structure frees by itself, whatever the drain."""
    return {name: value for name, value in chosen.items() if name in ("structure", "reclaimer")}


def kept(suite: Suite, comparison: Comparison, threads: list[int]) -> dict[str, Any]:
    """Rows by their names without the threads."""
    return {"key": comparison.key, "title": comparison.title, "what": comparison.what, "measures": list(comparison.measures),
            "threads": threads,
            "lines": [{"label": line.label, "of": f"{suite.workload}:{suite.variant(line.of)}",
                       "to": f"{suite.workload}:{suite.variant(line.to)}"} for line in comparison.lines]}
