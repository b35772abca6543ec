"""What is measured: one row of the table is one command (a program's job, a workload at a thread count, any command)."""

from __future__ import annotations

import fnmatch
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from polder_lab.complaint import Complaint, nearest
from polder_lab.place import Place
from polder_lab.program import PROGRAMS
from polder_lab.program.described import Program, handed_on
from polder_lab.program.prepared import Unprepared
from polder_lab.workload import QUICK, Workload, check_preset, listed


@dataclass(frozen=True)
class Row:
    name: str
    kind: str  # program, workload, command
    command: tuple[str, ...]
    threads: int | None = None
    extra: Mapping[str, str] = field(default_factory=dict)
    stdin: str = "/dev/null"
    folder: Path | None = None
    summary: str = ""
    clocks_itself: bool = False  # it starts a program that is measured, and prints a result line, as a workload does
    preset: str | None = None
    workload: Workload | None = None
    scale: float = 1.0  # of a program's job
    small: Row | None = None  # the same, cut down for instruments that take many times as long
    settings: Mapping[str, str] = field(default_factory=dict)  # of the workload's parameters, beside those of the preset
    without: frozenset[str] = frozenset()  # passes that it cannot run in
    together: str = ""  # rows of one name are compared with each other: their runs are interleaved

    @property
    def id(self) -> str:
        return full_name(self.name, self.threads, self.preset)

    @property
    def tells(self) -> bool:
        return self.kind == "workload" or self.clocks_itself

    @property
    def files(self) -> list[Path]:
        """What a run of it is of: the program, and of a job its script, its inputs and the program that it starts. Of a command of the
        user's the program alone, for the others that it names it may write."""
        words = self.command[:1] if self.kind == "command" else self.command
        return [path for word in words if (path := Path(word)).is_absolute() and path.is_file()]

    @property
    def title(self) -> str:
        named = self.name if self.preset is None else f"{self.name}:{self.preset}"
        return named if self.threads is None else f"{named} ×{self.threads}"

    def environment(self, heap: Mapping[str, str]) -> dict[str, str]:
        """Of the command under these settings of a heap, which are for what is measured alone."""
        return {**self.extra, **(handed_on(heap) if self.clocks_itself else heap)}

    def as_json(self) -> dict[str, Any]:
        return {"name": self.name, "kind": self.kind, "threads": self.threads, "command": list(self.command),
                "environment": dict(self.extra), "summary": self.summary}


def full_name(name: str, threads: int | None, preset: str | None = None) -> str:
    """larson/8, with a preset larson:scalloc/8, a program just redis."""
    return name + (f":{preset}" if preset else "") + (f"/{threads}" if threads is not None else "")


def matches(row_name: str, threads: int | None, patterns: Sequence[str], preset: str | None = None) -> bool:
    """A pattern is part of a name, or has * and ?; larson/8 means that thread count, whatever the preset, and
    larson:scalloc that preset, whatever the thread count."""
    if not patterns:
        return True
    names = [full_name(row_name, t, p) for t in {threads, None} for p in {preset, None}]
    return any(any(fnmatch.fnmatch(name, p) for name in names) if set("*?[") & set(p)
               else any(in_name(p, name) for name in names) for p in patterns)


def in_name(pattern: str, name: str) -> bool:
    return name == pattern or (name.endswith(pattern) if "/" in pattern else pattern in name.split("/")[0])


@dataclass(frozen=True)
class Known:
    """What a pattern may mean, and why there can be no such row."""

    name: str
    threads: int | None = None
    preset: str | None = None
    hindrance: str = ""


def means(pattern: str, one: Row | Known) -> bool:
    return matches(one.name, one.threads, [pattern], one.preset)


def check_patterns(patterns: Sequence[str], known: Sequence[Known], because: str = "") -> None:
    """Each pattern must mean something: what is misspelt would silently not be measured."""
    meant = {pattern: [one for one in known if means(pattern, one)] for pattern in patterns}
    if unmeant := [pattern for pattern in patterns if not meant[pattern]]:
        names = [full_name(one.name, one.threads, one.preset) for one in known] + [one.name for one in known]
        near = dict.fromkeys(name for pattern in unmeant for name in nearest(pattern, names))
        raise Complaint(f"nothing matches {', '.join(unmeant)}; nearest: {', '.join(near)}{because}")
    for pattern in patterns:
        if all(one.hindrance for one in meant[pattern]):
            raise Complaint(f"nothing that matches {pattern} can be measured: "
                            f"{'; '.join(dict.fromkeys(one.hindrance for one in meant[pattern]))}{because}")


@dataclass(frozen=True)
class Wanted:
    """Which rows, and at what size."""

    only: Sequence[str] = ()
    threads: Sequence[int] = (1, 2, 8)
    scale: float = 1.0  # of the programs' jobs
    preset: str | None = None  # of the workloads; those that have none of that name are left away
    papers: bool = False  # the papers' presets as well
    small: bool = False  # with the smaller sister of each row
    seed: int | None = None  # of the workloads' own random numbers
    of: str = "bench"  # the set that is taken where `only` names nothing: compare or bench

    def presets(self, workload: Workload) -> list[str | None]:
        if self.preset is not None:
            return [self.preset] if self.preset == QUICK or self.preset in workload.presets else []
        named = [p for p in workload.presets if any(":" in word and matches(workload.name, count, [word], p)
                                                    for word in self.only for count in self.threads)]
        return [None, *dict.fromkeys([*named, *(workload.of_papers if self.papers else [])])]


@dataclass(frozen=True)
class Selection:
    rows: list[Row]
    left_out: list[str]  # a line for each thing that is not there


SMALL_SCALE = 0.1

# The workloads of `compare`, which is to take five minutes: the classic ones, and large, growing, cleared and mixed blocks.
COMPARED = frozenset({"threadtest", "linux_scalability", "larson", "producer_consumer", "lock_free_producer_consumer", "object_sizes",
                      "large_blocks", "realloc_growth", "calloc_zero", "mixed"})


def select(place: Place, wanted: Wanted, scratch: Path) -> Selection:
    left_out: list[str] = []
    known: list[Known] = []
    rows = program_rows(wanted, scratch, known, left_out)
    if place.bench.exists():
        rows += workload_rows(place, wanted, known)
    else:
        left_out.append(f"the threaded workloads: {place.bench} is not built")
    because = "".join(f"\n  {line}" for line in left_out)
    check_patterns(wanted.only, known, because)
    if not rows:
        raise Complaint(f"nothing to measure{because}")
    return Selection(rows, left_out)


def program_rows(wanted: Wanted, scratch: Path, known: list[Known], left_out: list[str]) -> list[Row]:
    rows = []
    for program in PROGRAMS:
        known.append(Known(program.name, hindrance="" if wanted.preset in (None, QUICK) else f"{program.name} has no presets"))
        if wanted.preset not in (None, QUICK) or not matches(program.name, None, wanted.only):
            continue
        if not wanted.only and wanted.of not in program.sets:
            continue
        executable = program.executable()
        if executable is None:
            left_out.append(f"{program.name}: {program.executables[0]} is not installed (apt-get install {program.package})")
            continue
        try:
            small = program_row(program, executable, scratch / f"{program.name}.small", SMALL_SCALE) if wanted.small else None
            rows.append(replace(program_row(program, executable, scratch / program.name, wanted.scale), small=small))
        except Unprepared as why:
            left_out.append(f"{program.name}: its inputs cannot be made: {why}")
    return rows


def program_row(program: Program, executable: str, folder: Path, scale: float) -> Row:
    folder.mkdir()
    job = program.prepare(executable, folder, scale)
    return Row(program.name, "program", tuple(job.command), None, {**program.environment, **job.environment},
               job.stdin, folder, program.summary, program.clocks_itself, scale=scale)


def workload_rows(place: Place, wanted: Wanted, known: list[Known]) -> list[Row]:
    rows = []
    workloads = listed(place)
    if wanted.preset is not None:
        check_preset(wanted.preset, workloads)
    for workload in workloads:
        if not wanted.only and wanted.of == "compare" and workload.name not in COMPARED:
            continue
        presets = wanted.presets(workload)
        if not presets:
            known += [Known(workload.name, count, hindrance=f"{workload.name} has no preset {wanted.preset}") for count in wanted.threads]
        for preset in presets:
            for count in wanted.threads:
                fits = count <= workload.most_threads
                known.append(Known(workload.name, count, preset,
                                   "" if fits else f"{workload.name} runs with at most {workload.most_threads} threads"))
                if not fits or not matches(workload.name, count, wanted.only, preset):
                    continue
                row = Row(workload.name, "workload", workload.command(place.bench, count, preset, wanted.seed), count,
                          summary=workload.title, preset=preset, workload=workload)
                small = replace(row, command=workload.command(place.bench, count, QUICK, wanted.seed))
                rows.append(replace(row, small=small if wanted.small else None))
    return rows


def command_row(command: Sequence[str], stdin: str) -> Row:
    found = shutil.which(command[0])
    if found is None:
        raise Complaint(f"cannot run {command[0]}: not found, or not executable")
    return Row(Path(command[0]).name, "command", (found, *command[1:]), None, {}, stdin, None, " ".join(command))
