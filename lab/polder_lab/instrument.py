"""What is measured in one pass over a row. What one instrument looks at another disturbs, so each has runs of its own;
times are compared of `time` alone (docs/design/0002-laboratory.md).
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from polder_lab.launch import Launcher, Run
from polder_lab.place import Place
from polder_lab.row import Row
from polder_lab.workload import listed, options_of

FREES, QUALITY = "frees", "quality"  # parameters of workloads that can
SAMPLING_SECONDS = 0.01


@dataclass(frozen=True)
class Instrument:
    """The one that disturbs nothing: time."""

    name: str = "time"
    repeats: int | None = None  # None: in every round; else in the first so many
    slowness: float = 1  # of a run with it, roughly: for the time left and for the limit
    foreign: bool = False  # a program around the command, whose trouble is not the heap's
    small: bool = False  # of a row's small sister, which prints something else
    base_only: bool = False  # what it looks at is no matter of the heap: under the base alone

    def fits(self, row: Row) -> bool:
        return True

    def missing(self, place: Place) -> str:
        """Why it cannot be used here; "" if it can."""
        return ""

    def run(self, launcher: Launcher, row: Row, extra: Mapping[str, str], limit: float) -> Run:
        return self.launch(launcher, row, row.command, extra, limit)

    def launch(self, launcher: Launcher, row: Row, command: tuple[str, ...], extra: Mapping[str, str], limit: float,
               sample: float = 0) -> Run:
        return launcher.run(command, extra=extra, limit=limit, stdin=row.stdin, folder=row.folder,
                            result_line=row.tells, sample=sample, starts_what_counts=row.clocks_itself)


TIME = Instrument()


@dataclass(frozen=True)
class Latency(Instrument):
    """The workload times a sample of its own calls."""

    name: str = "latency"

    def fits(self, row: Row) -> bool:
        return row.kind == "workload"

    def missing(self, place: Place) -> str:
        return "" if "--latency" in options_of(place) else f"{place.bench} has no --latency"

    def run(self, launcher: Launcher, row: Row, extra: Mapping[str, str], limit: float) -> Run:
        run = self.launch(launcher, row, (*row.command, "--latency"), extra, limit)
        if not run.trouble and not isinstance(run.told.get("latency"), dict):
            return replace(run, trouble="the workload tells no latency")
        kept = {name: run.told[name] for name in ("latency", "latency_overhead_ns") if name in run.told}
        return replace(run, yields={} if run.trouble else kept)


@dataclass(frozen=True)
class Memory(Instrument):
    """Another process looks at the size of the largest process, of a job that clocks itself without the job and its clients; a
    workload that can tells what is live."""

    name: str = "memory"
    tells_live: bool = False

    def run(self, launcher: Launcher, row: Row, extra: Mapping[str, str], limit: float) -> Run:
        command = (*row.command, "--live") if self.tells_live and row.kind == "workload" else row.command
        run = self.launch(launcher, row, command, extra, limit, SAMPLING_SECONDS)
        return replace(run, yields={"memory": {**run.samples, "live": live(run)}})


def live(run: Run) -> list[list[float]]:
    """Live bytes over time, where the workload tells them, in seconds since the start of the run as the samples are: it
    counts from when its workers leave their barrier, and says when that was."""
    later = run.told.get("began", run.began) - run.began
    return [[round(at + later, 4), size] for at, size in run.told.get("memory_live") or []]


def trial(command: list[str]) -> str:
    """Why a tool does not work here: it may be missing, or forbidden (a container may not trace)."""
    if shutil.which(command[0]) is None:
        return f"{command[0]} is not installed (apt-get install {command[0]})"
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.SubprocessError) as why:
        return f"{command[0]} does not work here: {why}"
    lines = done.stderr.strip().splitlines()
    return "" if done.returncode == 0 else f"{command[0]} does not work here: {lines[0] if lines else done.returncode}"


@dataclass(frozen=True)
class Calls(Instrument):
    """System calls by name, of the whole tree, counted by strace."""

    name: str = "calls"
    repeats: int | None = 1
    slowness: float = 5
    foreign: bool = True

    def missing(self, place: Place) -> str:
        return trial(["strace", "-f", "-c", "-o", "/dev/null", "true"])

    def run(self, launcher: Launcher, row: Row, extra: Mapping[str, str], limit: float) -> Run:
        report = launcher.scratch / "calls"
        # The heap is for the command, not for strace.
        inside = [word for name, value in extra.items() for word in ("-E", f"{name}={value}")]
        command = ("strace", "-f", "-c", "-U", "name,calls", "-o", str(report), *inside, "--", *row.command)
        try:
            run = self.launch(launcher, row, command, {}, limit)
            return replace(run, yields={"calls": counted(report.read_text()) if report.exists() else {}})
        finally:
            report.unlink(missing_ok=True)


def counted(table: str) -> dict[str, int]:
    """strace's summary: a name and a number a line, in two columns between rules; the total is not a call."""
    lines = re.findall(r"^(\w+) +(\d+)$", table, re.MULTILINE)
    return {name: int(number) for name, number in lines if name != "total"}


@dataclass(frozen=True)
class Instructions(Instrument):
    """Instructions of the whole tree under callgrind, of the small sister of a row: fifty times slower, but the same
    figure on a busy machine. Threads run one at a time there."""

    name: str = "instructions"
    repeats: int | None = 1
    slowness: float = 50
    foreign: bool = True
    small: bool = True

    def missing(self, place: Place) -> str:
        return trial(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "true"])

    def run(self, launcher: Launcher, row: Row, extra: Mapping[str, str], limit: float) -> Run:
        folder = launcher.scratch / "callgrind"
        folder.mkdir(exist_ok=True)
        small = row.small or row
        command = ("valgrind", "--quiet", "--tool=callgrind", "--trace-children=yes", f"--callgrind-out-file={folder}/%p", *small.command)
        try:
            run = self.launch(launcher, small, command, extra, limit)
            total = sum(instructions(file) for file in folder.iterdir())
            return replace(run, yields={"instructions": total}, trouble=run.trouble or ("" if total else "callgrind counted nothing"))
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def instructions(report: Path) -> int:
    with report.open(errors="replace") as lines:
        return sum(int(line.split()[1]) for line in lines if line.startswith("totals: "))


@dataclass(frozen=True)
class Asked(Instrument):
    """The workload is asked, by a parameter of the instrument's name, to look at more than its time: at every free of its
    reclaimer, or at how far from its order each element came out."""

    def fits(self, row: Row) -> bool:
        return row.workload is not None and self.name in row.workload.parameters and self.name not in row.without

    def missing(self, place: Place) -> str:
        able = place.bench.exists() and any(self.name in workload.parameters for workload in listed(place))
        return "" if able else f"no workload here has the parameter '{self.name}'"

    def run(self, launcher: Launcher, row: Row, extra: Mapping[str, str], limit: float) -> Run:
        return self.launch(launcher, row, (*row.command, "--param", f"{self.name}=1"), extra, limit)


NOTHING_TO_LOOK_AT = "none of the chosen rows has what it looks at"


def instruments(names: list[str], rows: Sequence[Row], place: Place, repeats: int) -> tuple[list[Instrument], dict[str, str]]:
    """Those named that work here, and on one of the rows at least, and for each other one why not."""
    memory = Memory(repeats=repeats, tells_live="--live" in options_of(place))
    asked = (Asked(FREES, repeats), Asked(QUALITY, 1, base_only=True))
    known: dict[str, Instrument] = {i.name: i for i in (memory, Latency(repeats=repeats), TIME, *asked, Calls(), Instructions())}
    missing = {name: known[name].missing(place) or ("" if any(map(known[name].fits, rows)) else NOTHING_TO_LOOK_AT) for name in names}
    return [i for name, i in known.items() if name in names and not missing[name]], {n: why for n, why in missing.items() if why}


PASSES = ("time", "latency", "memory", FREES, QUALITY, "calls", "instructions")
FOREIGN = frozenset(kind.name for kind in (Instrument, Latency, Memory, Calls, Instructions) if kind.foreign)
