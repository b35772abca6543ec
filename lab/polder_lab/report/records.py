"""Records (docs/design/0002-laboratory.md) as what a report shows: subjects, rows and runs, of one file or several."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from polder_lab import journal
from polder_lab.complaint import Complaint
from polder_lab.instrument import FOREIGN
from polder_lab.report.shape import SHAPES, odd

GROUPS = {"seeds": "From the papers", "field": "What the field added", "structures": "Concurrent structures", "programs": "Real programs"}
ROUNDS_OF_A_FILE = 1_000_000  # keeps the rounds of several files apart: pairs exist within one file only


@dataclass(frozen=True)
class Subject:
    name: str
    kind: str = ""
    title: str = ""
    version: str = ""
    year: str = ""
    paper: str = ""
    summary: str = ""
    library: str = ""


@dataclass(frozen=True)
class Row:
    id: str
    name: str
    kind: str = "workload"
    group: str = "field"
    threads: int | None = None
    preset: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)
    title: str = ""
    what: str = ""
    shows: str = ""
    paper: str = ""

    @property
    def family(self) -> str:
        """Rows that differ in their threads alone."""
        return f"{self.name}:{self.preset}" if self.preset else self.name

    @property
    def label(self) -> str:
        named = self.title or self.name
        named += f" ({self.preset})" if self.preset else ""
        return f"{named} ×{self.threads}" if self.threads else named


Part = TypeVar("Part", Subject, Row)


@dataclass(frozen=True)
class Run:
    instrument: str  # the pass
    round: int
    row: str
    subject: str
    ok: bool
    trouble: str
    data: Mapping[str, Any] = field(hash=False)

    def number(self, name: str) -> float | None:
        value = self.data.get(name)
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None

    @property
    def cost(self) -> float | None:
        """What is compared: time, or time per operation, since a workload may run for a fixed time."""
        seconds, operations = self.number("seconds"), self.number("operations")
        if seconds is None or seconds <= 0:
            return None
        return seconds / operations if operations else seconds

    @property
    def faults(self) -> float | None:
        parts = [n for name in ("minor_faults", "major_faults") if (n := self.number(name)) is not None]
        return max(1.0, sum(parts)) if parts else None


@dataclass
class Records:
    files: list[Path]
    experiments: list[Mapping[str, Any]]
    subjects: list[Subject]
    rows: list[Row]
    runs: list[Run]
    noise: list[Mapping[str, Any]]
    absent: list[Mapping[str, Any]]
    ends: dict[int, Mapping[str, Any]]  # by file: of one that was continued only the last counts
    damaged: int = 0  # lines that could not be read

    @cached_property
    def index(self) -> dict[tuple[str, str, str], list[Run]]:
        """By pass, row and subject; of a repetition that was made twice the later one counts."""
        found: dict[tuple[str, str, str], dict[int, Run]] = {}
        for run in self.runs:
            found.setdefault((run.instrument, run.row, run.subject), {})[run.round] = run
        return {key: [rounds[n] for n in sorted(rounds)] for key, rounds in found.items()}

    def all_of(self, instrument: str, row: str, subject: str) -> list[Run]:
        return self.index.get((instrument, row, subject), [])

    def of(self, instrument: str, row: str, subject: str) -> list[Run]:
        """The repetitions; none at all where the cell failed, since those that went well before are no measurement of who fails."""
        return [] if self.trouble(row, subject, instrument) else self.all_of(instrument, row, subject)

    def by_round(self, instrument: str, row: str, subject: str, value: Callable[[Run], float | None]) -> dict[int, float]:
        return {run.round: v for run in self.of(instrument, row, subject) if (v := value(run)) is not None and v > 0}

    def trouble(self, row: str, subject: str, instrument: str = "time") -> str:
        """Why the cell has nothing to show: a failure in any pass is the heap's, but for those of a program around it."""
        own = next((run.trouble or "failed" for run in self.all_of(instrument, row, subject) if not run.ok), "")
        return own or self.failures.get((row, subject), "")

    @cached_property
    def failures(self) -> dict[tuple[str, str], str]:
        """By row and subject, those that end all passes as they ended the cell in the experiment."""
        found: dict[tuple[str, str], str] = {}
        for (instrument, row, subject), runs in self.index.items():
            for run in runs:
                if not run.ok and instrument not in FOREIGN:
                    found.setdefault((row, subject), run.trouble or "failed")
        return found

    @cached_property
    def troubles(self) -> list[tuple[str, str, str, str, int]]:
        """Row, subject, pass, what happened, how often."""
        counted: dict[tuple[str, str, str, str], int] = {}
        for (instrument, row, subject), runs in self.index.items():
            for run in runs:
                if not run.ok:
                    key = (row, subject, instrument, run.trouble or "failed")
                    counted[key] = counted.get(key, 0) + 1
        return [(*key, times) for key, times in counted.items()]

    @cached_property
    def families(self) -> dict[str, list[Row]]:
        found: dict[str, list[Row]] = {}
        for row in self.rows:
            found.setdefault(row.family, []).append(row)
        return {name: sorted(rows, key=lambda r: r.threads or 0) for name, rows in found.items()}

    @property
    def machine(self) -> Mapping[str, Any]:
        told = self.experiments[0].get("machine")
        return told if isinstance(told, Mapping) else {}

    @property
    def cores(self) -> int | None:
        told = self.machine.get("cores")
        return told if isinstance(told, int) else None

    @property
    def rounds(self) -> int:
        """Of the pass time; without it of all."""
        return len({run.round for run in self.runs if run.instrument == "time" or not self.timed})

    @cached_property
    def measured(self) -> frozenset[str]:
        """Rows of which there is a run, in whichever pass."""
        return frozenset(run.row for run in self.runs)

    @cached_property
    def timed(self) -> frozenset[str]:
        return frozenset(run.row for run in self.runs if run.instrument == "time")


def read(paths: Sequence[Path]) -> Records:
    """Several files become one, if they go together: subjects and rows are united by name."""
    whole = Records(list(paths), [], [], [], [], [], [], {})
    begun: list[journal.Record] = []
    for number, path in enumerate(paths):
        entries, damaged = journal.read_what_stands(path)
        if entries[0] in begun:
            raise Complaint(f"{path} is of the same experiment as {paths[begun.index(entries[0])]}: its runs would count twice")
        begun.append(entries[0])
        whole.damaged += damaged
        for entry in entries:
            kind = str(entry["record"])
            if kind in SHAPES and (why := odd(entry, SHAPES[kind], kind)):
                raise Complaint(f"{path} is damaged: {why}")
            take(entry, number, whole)
    # A later part of an experiment may have had the time, or the tool.
    there = whole.measured | {run.subject for run in whole.runs} | {f"the pass {run.instrument}" for run in whole.runs}
    whole.absent = [one for one in whole.absent if one["what"] not in there]
    if not whole.runs:
        raise Complaint(f"{', '.join(map(str, paths))}: no repetition has been recorded")
    return whole


def take(entry: journal.Record, number: int, whole: Records) -> None:
    kind = entry["record"]
    if kind == "experiment":
        whole.experiments.append(entry)
        whole.subjects += [
            s for told in entry.get("subjects", []) if (s := known(Subject, told)).name not in {o.name for o in whole.subjects}
        ]
        whole.rows += new_rows(entry, whole.files[number], whole)
    elif kind == "run":
        whole.runs.append(
            Run(
                str(entry.get("pass", "time")),
                number * ROUNDS_OF_A_FILE + int(entry.get("round", 0)),
                str(entry.get("row", "")),
                str(entry.get("subject", "")),
                bool(entry.get("ok")),
                str(entry.get("trouble") or ""),
                entry,
            )
        )
    elif kind == "noise":
        whole.noise.append(entry)
    elif kind == "absent":
        whole.absent.append(entry)
    elif kind == "end":
        whole.ends[number] = entry


def new_rows(entry: journal.Record, file: Path, whole: Records) -> list[Row]:
    """Of a further file; what it has under the same name must be the same."""
    there = {row.id: row for row in whole.rows}
    told = [known(Row, one) for one in entry.get("rows", [])]
    for row in told:
        if row.id in there and there[row.id].parameters != row.parameters:
            raise Complaint(f"{row.id} has other parameters in {file} than in the file before: they go into a report each")
    return [row for row in told if row.id not in there]


def known(shape: type[Part], told: Mapping[str, Any]) -> Part:
    """What the class knows of what was told; null is as good as not told."""
    return shape(**{f.name: told[f.name] for f in fields(shape) if told.get(f.name) is not None})
