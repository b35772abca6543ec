"""Structures of a suite as the charts and the catalogue see them: of each its throughput, and how far from its order elements came
out of it, by number of threads, under one allocator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polder_lab.by_round import ratio
from polder_lab.complaint import Complaint
from polder_lab.interval import Ratio
from polder_lab.median import Estimate, median
from polder_lab.noise import OTHERS_LIMIT
from polder_lab.report.records import Records, Run, read

ALLOCATOR = "polder"  # where it was measured
PASS = "quality"


@dataclass(frozen=True)
class Quality:
    lateness: float  # mean: how many elements overtook one
    worst: float
    k: float  # the most that any overtook
    promised: float | None  # its own k
    as_stack: bool


@dataclass(frozen=True)
class Standing:
    """One structure at one number of threads."""

    name: str
    is_rival: bool
    threads: int
    throughput: Estimate  # operations a second
    against: str  # the structure that it is set against
    ratio: Ratio | None  # of throughput to that one's; none of that one itself
    quality: Quality | None


@dataclass(frozen=True)
class Standings:
    key: str  # of the comparison
    title: str
    all: Sequence[Standing]

    @property
    def threads(self) -> list[int]:
        return sorted({one.threads for one in self.all})


def allocator_of(records: Records) -> str:
    names = [subject.name for subject in records.subjects]
    return ALLOCATOR if ALLOCATOR in names else names[0]


def standings(records: Records) -> list[Standings]:
    """Of each comparison that looks at quality; none where the records are not of structures."""
    looked = {run.row for run in records.runs if run.instrument == PASS and run.ok}
    told: dict[str, Mapping[str, Any]] = {}
    for experiment in records.experiments:
        for one in experiment.get("comparisons") or ():
            told.setdefault(str(one["key"]), one)
    found = []
    for key, one in told.items():
        bases = dict.fromkeys(str(line["to"]) for line in one["lines"])
        of_bases = [{"label": structure_of(base), "of": base, "to": base} for base in bases]
        lines, counts = [*of_bases, *(line for line in one["lines"] if line["of"] not in bases)], [int(count) for count in one["threads"]]
        if all(f"{line['to']}/{count}" not in looked for line in lines for count in counts):
            continue  # reclamation, say: what it is set against has no quality
        made = [known for line in lines for count in counts if (known := standing(records, line, count))]
        if made:
            found.append(Standings(key, str(one["title"]), made))
    return found


def cost(run: Run) -> float | None:
    return run.cost


def throughput(run: Run) -> float | None:
    return 1 / run.cost if run.cost and run.number("operations") else None


def structure_of(row: str) -> str:
    return row.partition(":")[2].partition(".")[0]


def standing(records: Records, line: Mapping[str, str], threads: int) -> Standing | None:
    row, base, name = f"{line['of']}/{threads}", f"{line['to']}/{threads}", allocator_of(records)
    known = median(list(records.by_round("time", row, name, throughput).values()))
    if known is None:
        return None
    faster = None if row == base else ratio(records.by_round("time", base, name, cost), records.by_round("time", row, name, cost))
    is_rival = line["of"].split(".")[1] == "own"  # which reclaimer
    return Standing(line["label"], is_rival, threads, known, structure_of(line["to"]), faster, quality(records, row))


def quality(records: Records, row: str) -> Quality | None:
    """Recorded under whichever allocator: it is no matter of the heap."""
    for subject in records.subjects:
        for run in records.of(PASS, row, subject.name):
            told = run.data.get("figures") or {}
            if "lateness_mean" in told:
                return Quality(told["lateness_mean"], told["lateness_max"], told["k_measured"], told.get("k_promised"),
                               bool(told.get("as_stack")))
    return None


@dataclass(frozen=True)
class Measured:
    """What the catalogue says of structures."""

    how: str
    all: Mapping[tuple[str, int], Standing]

    @property
    def threads(self) -> list[int]:
        return sorted({count for _, count in self.all})

    def standing(self, name: str, threads: int) -> Standing | None:
        return self.all.get((name, threads))


def measured_in(file: Path) -> Measured:
    records = read([file])
    found: dict[tuple[str, int], Standing] = {}
    for of in standings(records):
        for one in of.all:
            found.setdefault((one.name, one.threads), one)
    if not found:
        raise Complaint(f"{file} has no structures that were looked at for their quality: ./polder bench run --suite structures --quick")
    machine, experiment = records.machine, records.experiments[0]
    bases = sorted({one.against for one in found.values()})
    mode = str((experiment.get("settings") or {}).get("mode") or "usual")
    option = "" if mode == "usual" else f" --{mode}"
    how = (
        f"Measured {str(experiment.get('started') or '')[:10]} on {machine.get('cpu') or 'an unnamed processor'}, "
        f"{records.cores or '?'} cores, {machine.get('distribution') or 'an unnamed system'}, commit "
        f"{str(machine.get('commit') or 'unknown')[:10]}, by `./polder bench run --suite structures{option}`, under "
        f"{allocator_of(records)}: half of the threads put and half get, with work between. Throughput is a ratio to "
        f"{' or '.join(bases)}, paired by round; in brackets operations a second. Lateness is how many elements certainly overtook one, in "
        "the mean; k is the most that any certainly overtook, and of how many that are promised. "
        "A deque or a pool is held to the order, a queue's or a stack's, that it is nearer to."
    )
    busy = max((float(look.get("others_share") or 0) for look in records.noise), default=0.0)
    if busy > OTHERS_LIMIT:
        how += f" Other processes used up to {busy:.0%} of the machine meanwhile: its numbers are rough."
    return Measured(how, found)
