"""Traces of a program's malloc calls: recorded by libpolder-trace.so, packed, described and replayed by polder-trace.

The recorder writes one raw file a process into a folder beside the trace; what came of each is packed when the command
has ended, however it ended. Folder and raw files stay only when that fails.
"""

from __future__ import annotations

import glob
import json
import math
import os
import random
import shutil
import signal
import statistics
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from polder_lab.complaint import Complaint
from polder_lab.heap import Heap
from polder_lab.interval import Ratio, paired_ratio
from polder_lab.launch import inherited, signal_name
from polder_lab.place import Place
from polder_lab.proof import CANNOT_CARRY, can_be_preloaded, witness

LONG_ENOUGH = 0.2  # seconds of a replay; shorter traces are repeated in one process
MOST_REPETITIONS = 2000
LONGEST_FOLDER = 511  # bench/trace/recorder.hpp, folder_
LEAST = {"seconds": 1e-9, "grown_kb": 4.0}  # that a ratio is made of: a page, so that nothing is not endlessly better than little


def tool(place: Place) -> Path:
    return place.build / "bin" / "polder-trace"


def recorder(place: Place) -> Path:
    return place.libraries / "libpolder-trace.so"


def call(place: Place, *words: str, extra: Mapping[str, str] | None = None, limit: float | None = None) -> subprocess.CompletedProcess[str]:
    """polder-trace; what it says of bad input is passed on."""
    environment = {**inherited(), **(extra or {})}
    try:
        done = subprocess.run([tool(place), *words], capture_output=True, encoding="utf-8", errors="replace",
                              env=environment, timeout=limit)
    except FileNotFoundError as why:
        raise Complaint(f"{tool(place)} is not built") from why
    if done.returncode == 2:
        raise Complaint(done.stderr.strip().removeprefix("polder-trace: "))
    return done


def what_becomes_of(place: Place, command: str, file: Path, *words: str) -> str:
    done = call(place, command, str(file), *words)
    if done.returncode != 0:
        raise Complaint(f"{file}: polder-trace {command} ends with {ending(done.returncode)}")
    return done.stdout


def describe(place: Place, file: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(what_becomes_of(place, "describe", file))
    return told


def ending(status: int) -> str:
    return signal_name(-status) if status < 0 else f"status {status}"


@dataclass(frozen=True)
class Recording:
    status: int  # of the command, as a shell would say it
    written: list[Path]  # the first is that of the command
    skipped: int  # child processes, and programs that the command was before it became the last one
    no_room: int  # programs of which nothing could be written


def record(place: Place, command: Sequence[str], file: Path, heap: Heap | None, children: bool) -> Recording:
    """Runs the command; its input and output are ours."""
    if not recorder(place).exists():
        raise Complaint(f"{recorder(place)} is not built")
    libraries = [recorder(place), *([heap.library] if heap and heap.library else [])]
    if hindered := [library for library in libraries if not can_be_preloaded(library)]:
        raise Complaint(f"{CANNOT_CARRY} {hindered[0]}")
    if children:
        beside = sorted(file.parent.glob(glob.escape(f"{file.stem}-") + "[0-9]*" + glob.escape(file.suffix)))
        if there := [one for one in beside if one.stem.removeprefix(f"{file.stem}-").isdigit()]:
            raise Complaint(f"{there[0]} is there already, and a child's trace may get its name: remove it, or name the trace "
                            "otherwise (-o)")
    folder = Path(f"{file}.recording").absolute()
    if (length := len(os.fsencode(folder))) > LONGEST_FOLDER:
        raise Complaint(f"-o: the path is too long for the recorder, {folder} has {length} bytes and may have {LONGEST_FOLDER}")
    try:
        folder.mkdir()
    except FileExistsError as why:
        raise Complaint(f"{folder} is there: another recording, or what is left of one (then remove it)") from why
    except OSError as why:
        raise Complaint(f"cannot write {file}: {why.strerror}") from why
    environment = {**inherited(), **(heap.environment if heap else {}),
                   "LD_PRELOAD": ":".join(map(str, libraries)), "POLDER_TRACE_FOLDER": str(folder)}
    if children:
        environment["POLDER_TRACE_CHILDREN"] = "1"
    try:
        status = run_to_its_end(command, environment)
        raws = sorted(folder.glob("raw.*"), key=lambda raw: raw.stat().st_mtime_ns)
        whole = [raw for raw in raws if raw.stat().st_size]
        if raws and not whole:
            raise Complaint("nothing was recorded: there was no room for it (a full disk, or ulimit -f)")
        written, before = pack_all(place, folder, whole, file, children)
        skipped = len(list(folder.glob("skipped.*"))) + before
    except Complaint:
        if not any(raw.stat().st_size for raw in folder.glob("raw.*")):
            shutil.rmtree(folder)
        raise
    shutil.rmtree(folder)
    return Recording(status, written, skipped, len(raws) - len(whole))


def run_to_its_end(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Ctrl-C is the command's, and SIGTERM is passed on to it: what it has done until then is a trace as well."""
    try:
        running = subprocess.Popen(command, env=environment)
    except OSError as why:
        raise Complaint(f"cannot run {command[0]}: {why.strerror}") from why
    before = {signal.SIGINT: signal.signal(signal.SIGINT, signal.SIG_IGN),
              signal.SIGTERM: signal.signal(signal.SIGTERM, lambda number, frame: running.send_signal(number))}
    try:
        status = running.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return 128 - status if status < 0 else status


def pack_all(place: Place, folder: Path, raws: Sequence[Path], file: Path, all_of_them: bool) -> tuple[list[Path], int]:
    """FILE is what the command was at last (env, say, becomes another program); the others get names beside it, or are
    only counted."""
    claim = folder / "command"
    mine = f"raw.{claim.read_text()}." if claim.exists() else ""
    own = sorted((raw for raw in raws if raw.name.startswith(mine)), key=lambda raw: int(raw.suffix[1:])) if mine else []
    if not own:
        raise Complaint("nothing was recorded: the program is static, is set-user-id, brings its own malloc, calls none, or may "
                        "write no file (ulimit -f)")
    others = [raw for raw in raws if raw != own[-1]]
    written = []
    for number, raw in enumerate([own[-1], *(others if all_of_them else [])]):
        target = file.with_name(f"{file.stem}-{number}{file.suffix}") if number else file
        what_becomes_of(place, "pack", raw, str(target))
        written.append(target)
    return written, 0 if all_of_them else len(others)


def figure(line: Any, path: Sequence[str]) -> float:
    for name in path:
        line = line[name]
    return float(line)


@dataclass
class Replays:
    """One trace under one heap: the line that polder-trace printed, a round each."""

    heap: Heap
    lines: list[dict[str, Any]] = field(default_factory=list)
    trouble: str = ""

    def median(self, *path: str) -> float:
        """Of a figure, or of one inside others: latency, malloc, p50_ns."""
        return statistics.median(figure(line, path) for line in self.lines)

    def tells(self, metric: str) -> bool:
        return all(line[metric] is not None for line in self.lines)

    def ratio(self, base: Replays, metric: str) -> Ratio | None:
        rounds = min(len(self.lines), len(base.lines))
        if self is base or self.trouble or base.trouble or rounds == 0 or not (self.tells(metric) and base.tells(metric)):
            return None
        return paired_ratio(*([max(float(line[metric]), LEAST[metric]) for line in r.lines[:rounds]] for r in (self, base)))


COUNTS = ("operations", "allocations", "reallocs", "frees", "remote_frees", "skipped", "calls")


class Replayer:
    def __init__(self, place: Place, file: Path, options: Sequence[str], scratch: Path, limit: float) -> None:
        self.place = place
        self.file = file
        self.options = list(options)
        self.scratch = scratch
        self.limit = limit

    def once(self, heap: Heap, repeat: int, extra: Mapping[str, str] | None = None) -> tuple[dict[str, Any], str]:
        """The line, and what went wrong."""
        try:
            done = call(self.place, "replay", str(self.file), *self.options, "--repeat", str(repeat),
                        extra={**heap.environment, **(extra or {})}, limit=self.limit)
        except subprocess.TimeoutExpired:
            return {}, f"hangs: ended after {self.limit:g} s"
        try:
            line: dict[str, Any] = json.loads(done.stdout)
        except ValueError:
            last = next(iter(reversed(done.stderr.strip().splitlines())), "")
            return {}, f"crashes: {ending(done.returncode)}{': ' + last if last else ''}"
        return line, "" if done.returncode == 0 and line["ok"] else f"fails: {line['why'] or ending(done.returncode)}"

    def prove(self, heap: Heap) -> tuple[dict[str, Any], str]:
        """Not counted: did the heap really serve malloc?"""
        with witness(self.scratch / heap.name.replace("/", "_")) as seen:
            line, trouble = self.once(heap, 1, seen.extra)
            return line, trouble or next((seen.objection(heap, pid) for pid in seen.processes()), "")

    def run(self, heaps: Sequence[Heap], rounds: int, seed: int, repeat: int | None, step: Callable[[str], None]) -> list[Replays]:
        """Rounds interleave the heaps in random order; each replay is a process of its own."""
        results = [Replays(heap) for heap in heaps]
        first: dict[str, Any] = {}
        for result in results:
            step(f"{result.heap.name}: proof")
            line, result.trouble = self.prove(result.heap)
            if result.trouble:
                continue
            first = first or line
            if not line["operations"]:
                raise Complaint(f"{self.file}: holds no calls that can be made again")
            if any(line[name] != first[name] for name in COUNTS):
                result.trouble = "does another number of calls"
        if repeat is None:
            repeat = max(1, min(MOST_REPETITIONS, math.ceil(LONG_ENOUGH / max(float(first.get("wall", 1)), 1e-6))))
        lot = random.Random(seed)
        for number in range(rounds):
            for result in lot.sample(results, len(results)):
                if result.trouble:
                    continue
                step(f"round {number + 1} of {rounds}: {result.heap.name}")
                line, result.trouble = self.once(result.heap, repeat)
                if not result.trouble:
                    result.lines.append(line)
        return results
