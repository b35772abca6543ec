"""What is measured: one row of the table is one command (a program's job, a workload at a thread count, any command)."""

from __future__ import annotations

import fnmatch
import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from polder_lab.complaint import Complaint, nearest
from polder_lab.place import Place
from polder_lab.program import PROGRAMS


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
    clocks_itself: bool = False  # it prints a result line, as a workload does

    @property
    def tells(self) -> bool:
        return self.kind == "workload" or self.clocks_itself

    @property
    def title(self) -> str:
        return self.name if self.threads is None else f"{self.name} ×{self.threads}"

    def as_json(self) -> dict[str, Any]:
        return {"name": self.name, "kind": self.kind, "threads": self.threads, "command": list(self.command),
                "environment": dict(self.extra), "summary": self.summary}


def matches(row_name: str, threads: int | None, patterns: Sequence[str]) -> bool:
    """A pattern is part of a name, or has * and ?; larson/8 means that thread count."""
    if not patterns:
        return True
    full = row_name if threads is None else f"{row_name}/{threads}"
    return any(fnmatch.fnmatch(full, p) or fnmatch.fnmatch(row_name, p) or (not set("*?[") & set(p) and in_name(p, row_name, full))
               for p in patterns)


def in_name(pattern: str, name: str, full: str) -> bool:
    return full == pattern or full.endswith(pattern) if "/" in pattern else pattern in name


@dataclass(frozen=True)
class Selection:
    rows: list[Row]
    left_out: list[str]  # a line for each thing that is not there


def workload_names(place: Place) -> dict[str, str]:
    """Name and title of each workload of the built polder-bench."""
    try:
        told = subprocess.run([place.bench, "list", "--json"], capture_output=True, text=True, timeout=20, check=True).stdout
        listed = json.loads(told)
    except (OSError, subprocess.SubprocessError, ValueError) as why:
        raise Complaint(f"{place.bench} does not list its workloads: {why}") from why
    entries = listed["workloads"] if isinstance(listed, dict) else listed
    return {entry["name"]: entry.get("title", "") for entry in entries}


def select(place: Place, only: Sequence[str], threads: Sequence[int], scratch: Path, scale: float,
           program_set: str = "compare") -> Selection:
    rows: list[Row] = []
    left_out: list[str] = []
    known: list[str] = []
    for program in PROGRAMS:
        known.append(program.name)
        if not matches(program.name, None, only) or not (only or program_set in program.sets):
            continue
        executable = program.executable()
        if executable is None:
            left_out.append(f"{program.name}: {program.executables[0]} is not installed (apt-get install {program.package})")
            continue
        folder = scratch / program.name
        folder.mkdir()
        job = program.prepare(executable, folder, scale)
        rows.append(Row(program.name, "program", tuple(job.command), None, {**program.environment, **job.environment},
                        job.stdin, folder, program.summary, program.clocks_itself))
    if place.bench.exists():
        for name, title in workload_names(place).items():
            for count in threads:
                known.append(f"{name}/{count}")
                if matches(name, count, only):
                    rows.append(Row(name, "workload", (str(place.bench), "run", name, "--threads", str(count)), count, summary=title))
    else:
        left_out.append(f"the threaded workloads: {place.bench} is not built")
    if not rows and only:
        near = dict.fromkeys(name for pattern in only for name in nearest(pattern, [*known, *(k.split("/")[0] for k in known)]))
        because = "".join(f"\n  {line}" for line in left_out)
        raise Complaint(f"nothing matches {', '.join(only)}; nearest: {', '.join(near)}{because}")
    if not rows:
        raise Complaint("nothing to measure" + "".join(f"\n  {line}" for line in left_out))
    return Selection(rows, left_out)


def command_row(command: Sequence[str], stdin: str) -> Row:
    found = shutil.which(command[0])
    if found is None:
        raise Complaint(f"cannot run {command[0]}: not found, or not executable")
    return Row(Path(command[0]).name, "command", (found, *command[1:]), None, {}, stdin, None, " ".join(command))
