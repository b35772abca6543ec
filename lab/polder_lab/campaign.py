"""An experiment that is kept: `bench run`. What it was asked, which rows and subjects that means, its file of records."""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from polder_lab import heap as heaps_of
from polder_lab import machine
from polder_lab import suite as suites
from polder_lab.complaint import Complaint
from polder_lab.experiment import Earlier, Keeper, Terms
from polder_lab.heap import SYSTEM, Heap
from polder_lab.interval import FEWEST_ROUNDS
from polder_lab.journal import FORMAT, Journal, Record
from polder_lab.launch import Run
from polder_lab.machine import Quiet
from polder_lab.noise import glance
from polder_lab.place import Place
from polder_lab.row import Row, Wanted, select
from polder_lab.suite.described import Size
from polder_lab.workload import QUICK

RIVALS_OF_QUICK = 6
MORE_ROUNDS_OF_A_CONTEST = 4  # than otherwise at most: most heaps leave it early


@dataclass(frozen=True)
class Mode:
    """How much: what an option that is not given means."""

    minutes: float
    most: int
    threads: tuple[int, ...]
    passes: tuple[str, ...]
    repeats: int  # of the passes other than time
    limit: float
    scale: float = 1.0
    fewest: int = FEWEST_ROUNDS
    longest: float | None = None


MODES = {
    "quick": Mode(9.2, 6, (2,), ("time", "latency", "memory"), 1, 10, 0.1, 1),
    "usual": Mode(60, 12, (1, 2, 8), ("time", "latency", "memory"), 2, 60),
    "full": Mode(540, 20, (1, 2, 8, 32), ("time", "latency", "memory", "calls"), 4, 120, longest=20),
}


@dataclass(frozen=True)
class Settings:
    """What was asked; kept in the file, so that --resume asks the same."""

    mode: str
    heaps: list[str]
    only: list[str]
    threads: list[int]
    preset: str | None
    passes: list[str]
    seed: int
    rounds: int | None
    minutes: float
    punctual: bool
    until: float
    limit: float
    suite: str = ""

    @property
    def size(self) -> Size | None:
        """Of the suite, where there is one."""
        return suites.find(self.suite).sizes[self.mode] if self.suite else None

    @property
    def wanted(self) -> Wanted:
        brief = self.mode == "quick" and self.preset is None
        return Wanted(self.only, self.threads, MODES[self.mode].scale, QUICK if brief else self.preset,
                      papers=self.mode == "full" and self.preset is None, small="instructions" in self.passes, seed=self.seed)

    @property
    def terms(self) -> Terms:
        mode, contest = MODES[self.mode], bool(self.suite) and isinstance(suites.find(self.suite), suites.Field)
        return Terms(self.rounds, self.minutes, self.limit, self.seed, fewest=1 if self.punctual else mode.fewest,
                     most=mode.most * (MORE_ROUNDS_OF_A_CONTEST if contest else 1), punctual=self.punctual, until=self.until,
                     prove_once=self.mode == "quick" or bool(self.suite), needs_base=False, longest=mode.longest, contest=contest)


def subjects(settings: Settings, place: Place) -> tuple[list[Heap], list[str]]:
    """The system's malloc first, then the others; and a line for each that is left out."""
    size = settings.size
    chosen, left_out = heaps_of.choose(settings.heaps or (list(size.heaps) if size else [heaps_of.ALL]), place)
    if size:
        return [SYSTEM, *chosen], left_out
    if settings.mode == "quick" and not settings.heaps:
        rivals = [h.name for h in chosen if h.kind == "peer"][RIVALS_OF_QUICK:]
        left_out += [f"{name}: --quick takes {RIVALS_OF_QUICK} rivals (--heaps all for every one)" for name in rivals]
        chosen = [h for h in chosen if h.name not in rivals]
    return [SYSTEM, *chosen], left_out


@dataclass(frozen=True)
class Chosen:
    """What is measured, and how its rows are set against each other."""

    rows: list[Row]
    left_out: list[str]
    comparisons: list[dict[str, Any]]


def rows_of(settings: Settings, place: Place, scratch: Path) -> Chosen:
    suite = suites.find(settings.suite) if settings.suite else None
    if isinstance(suite, suites.Suite):
        made = suites.make(suite, suite.sizes[settings.mode], place, settings.only, settings.threads, settings.seed)
        return Chosen(made.rows, made.left_out, made.comparisons)
    selection = select(place, settings.wanted, scratch)
    rows = [row for row in selection.rows if suite is None or group_of(row) not in suite.leaves_out]
    if not rows:
        raise Complaint(f"nothing of the suite {settings.suite} matches {', '.join(settings.only)}")
    named = [f"{row.id}: not of the suite {settings.suite}" for row in selection.rows if settings.only and row not in rows]
    return Chosen(rows, selection.left_out + named, [])


def repeats_of(settings: Settings) -> int:
    """Of the passes other than time."""
    return settings.size.repeats if settings.size else MODES[settings.mode].repeats


def digest(library: Path | None) -> str:
    return hashlib.sha256(library.read_bytes()).hexdigest() if library else ""


def version(heap: Heap) -> str:
    if heap.kind == "system":
        return machine.libc()
    return heap.version or (machine.first_line(["dpkg-query", "-W", "-f", "${Version}\n", heap.package]) if heap.package else "")


def subject_record(heap: Heap) -> dict[str, Any]:
    told = {name: str(value or "") for name, value in asdict(heap).items()
            if name in ("name", "kind", "title", "year", "paper", "summary", "library")}
    return {**told, "version": version(heap), "digest": digest(heap.library)}


def harness_record(place: Place) -> dict[str, str]:
    return {file.name: digest(file) for file in place.harness if file.exists()}


def group_of(row: Row) -> str:
    return row.workload.group if row.workload else "programs"


def row_record(row: Row) -> dict[str, Any]:
    of = row.workload
    return {"id": row.id, "name": row.name, "kind": row.kind, "group": group_of(row), "threads": row.threads,
            "preset": row.preset, "parameters": parameters_of(row),
            "title": of.title if of else row.name,
            "what": of.what if of else row.summary, "shows": of.shows if of else "", "paper": of.paper if of else ""}


def parameters_of(row: Row) -> dict[str, Any]:
    of = row.workload
    if of is None:
        return {"scale": row.scale}
    return {**of.values(None), **row.settings} if row.settings else of.values(row.preset)


def experiment_record(name: str, settings: Settings, place: Place, heaps: Sequence[Heap], chosen: Chosen) -> dict[str, Any]:
    return {"record": "experiment", "format": FORMAT, "name": name, "started": datetime.now().astimezone().isoformat(timespec="seconds"),
            "seed": settings.seed, "settings": asdict(settings), "machine": machine.describe(place),
            "subjects": [subject_record(heap) for heap in heaps], "harness": harness_record(place),
            "rows": [row_record(row) for row in chosen.rows],
            **({"comparisons": chosen.comparisons} if chosen.comparisons else {})}


def run_record(instrument: str, number: int, row: Row, heap: Heap, run: Run) -> dict[str, Any]:
    told = run.told
    kilobytes = told.get("base_rss_kb")
    figures = {"figures": told["counts"]} if told.get("counts") else {}
    return {"record": "run", "pass": instrument, "round": number, "row": row.id, "subject": heap.name, "ok": not run.trouble,
            "trouble": run.trouble, "seconds": run.seconds, "operations": run.operations, "wall": run.wall, "user": run.user,
            "system": run.system, "peak_rss": run.peak_rss, "base_rss": None if kilobytes is None else kilobytes * 1024,
            "minor_faults": run.minor_faults, "major_faults": run.major_faults,
            **{name: told.get(name) for name in ("allocations", "frees", "remote_frees", "live_peak", "allocator_seconds")},
            **figures, **run.yields}


def run_of(record: Record) -> Run:
    """As much of a run as comparing it takes."""
    return Run(**{name: record[name] for name in ("seconds", "wall", "user", "system", "peak_rss", "minor_faults", "major_faults",
                                                  "operations", "trouble")}, output="")


def earlier(records: Sequence[Record]) -> Iterator[Earlier]:
    for r in records:
        if r["record"] == "run":
            yield Earlier(r["pass"], r["round"], r["row"], r["subject"], run_of(r))


def before(records: Sequence[Record]) -> float:
    """The seconds of the earlier parts of an experiment."""
    return max((float(r.get("at", r.get("seconds", 0))) for r in records if r["record"] in ("run", "noise", "end")), default=0.0)


def settings_of(record: Record) -> Settings:
    try:
        return Settings(**record["settings"])
    except (KeyError, TypeError) as why:
        raise Complaint(f"the experiment was made by another version of the laboratory and cannot be continued: {why}") from why


# What a run is under, beside its heap: the heap's options, and of the machine what times depend on.
UNDER = {"polder_options": "POLDER_OPTIONS", "transparent_huge_pages": "huge pages", "cpu": "processor", "cores": "cores",
         "kernel": "kernel"}


def unchanged(record: Record, heaps: Sequence[Heap], rows: Sequence[Row], place: Place) -> None:
    """Runs of before and after must be of the same things, under the same conditions."""
    began, here = record.get("machine") or {}, machine.describe(place)
    differing = [f"{word} '{here[name]}', before '{began[name]}'" for name, word in UNDER.items()
                 if name in began and began[name] != here[name]]
    if differing:
        raise Complaint(f"cannot continue: under other conditions than before: {'; '.join(differing)}")
    was = {s["name"]: s for s in record["subjects"]}
    missing = was.keys() - {heap.name for heap in heaps}
    if missing:
        raise Complaint(f"cannot continue: no longer there: {', '.join(sorted(missing))}")
    changed = [heap.name for heap in heaps if heap.name in was and was[heap.name]["digest"] != digest(heap.library)]
    if changed:
        raise Complaint(f"cannot continue: another library than before: {', '.join(changed)}")
    now_there = harness_record(place)
    rebuilt = [name for name, known in record.get("harness", {}).items() if now_there.get(name) != known]
    if rebuilt and any(row.workload for row in rows):
        raise Complaint(f"cannot continue: another harness than before: {', '.join(rebuilt)}")
    gone = {r["id"] for r in record["rows"]} - {row.id for row in rows}
    if gone:
        raise Complaint(f"cannot continue: no longer there: {', '.join(sorted(gone))}")
    now = {row.id: row_record(row)["parameters"] for row in rows}
    other = [r["id"] for r in record["rows"] if r["parameters"] != now[r["id"]]]
    if other:
        raise Complaint(f"cannot continue: other parameters than before: {', '.join(other)}")


class Recorder(Keeper):
    """Writes down each thing, and looks at the machine between rounds."""

    def __init__(self, journal: Journal, earlier_seconds: float, scratch: Path, warn: Callable[[str], None],
                 already_absent: frozenset[str] = frozenset()) -> None:
        self.journal = journal
        self.scratch = scratch
        self.warn = warn
        self.already_absent = already_absent
        self.begun = time.monotonic() - earlier_seconds
        self.quiet = Quiet()
        self.failures = 0

    @property
    def at(self) -> float:
        return round(time.monotonic() - self.begun, 3)

    def before(self, number: int) -> None:
        self.journal.sync()
        noise = glance(self.quiet)
        self.quiet = Quiet()
        self.journal.write({"record": "noise", "at": self.at, **asdict(noise)})
        if noise.warning:
            self.warn(f"noisy before round {number + 1}: {noise.warning}")

    def ran(self, instrument: str, number: int, row: Row, heap: Heap, run: Run) -> None:
        if run.trouble:
            if shutil.disk_usage(self.scratch).free < 1 << 20:
                raise Complaint(f"{self.scratch} is full, so {row.id} could not be measured; what was finished before is in "
                                f"{self.journal.file}, and --resume continues it")
            self.failures += 1
        self.journal.write({**run_record(instrument, number, row, heap, run), "at": self.at})

    def absent(self, what: str, why: str) -> None:
        if what not in self.already_absent:
            self.journal.write({"record": "absent", "what": what, "why": why})
            self.warn(f"left out: {what}: {why}")

    def end(self, interrupted: bool) -> None:
        self.journal.write({"record": "end", "interrupted": interrupted, "seconds": self.at})
        self.journal.sync()
