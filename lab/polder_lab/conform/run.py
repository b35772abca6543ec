"""One probe under one heap: how it ended, and what that says."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from polder_lab.complaint import Complaint
from polder_lab.conform.catalogue import Probe
from polder_lab.heap import Heap
from polder_lab.launch import Launcher, ended_by_itself, signal_name
from polder_lab.proof import witness

# How polder-probe ends, as test/probe/expect.hpp has it.
WRONG, HUNG, CRASHED, NOT_APPLICABLE = 1, 3, 4, 77
SIGALRM = 14

FOLDERS = re.compile(r"(?<![\w.])/(?:[\w.+-]+/){2,}")


@dataclass(frozen=True)
class Verdict:
    kind: str  # met, wrong, crash, hang, absent
    told: str = ""  # evidence, one line
    note: str = ""  # what a probe says that passed
    runs: int = 1
    failed: int = 0
    seconds: float = 0.0

    @property
    def fails(self) -> bool:
        return self.kind in ("wrong", "crash", "hang")


@dataclass(frozen=True)
class Ending:
    pid: int
    exit: int
    signal: int
    hung: bool
    seconds: float
    output: str
    errors: str


def last_line(text: str) -> str:
    """What a heap says before it dies may have bytes of its own in it: they become spaces. And it may name its source by the folders
    of whoever built it."""
    said = ("".join(c if c.isprintable() else " " for c in line).strip() for line in reversed(text.splitlines()))
    return next((FOLDERS.sub("…/", line)[:300] for line in said if line), "")


class Runner:
    def __init__(self, program: Path, launcher: Launcher, limit: float | None = None, again: int = 2) -> None:
        self.program = program
        self.launcher = launcher
        self.limit = limit
        self.again = again

    def execute(self, heap: Heap, arguments: list[str], limit: float, extra: Mapping[str, str] | None = None) -> Ending:
        output, errors = self.launcher.scratch / "probe.output", self.launcher.scratch / "probe.errors"
        call = [str(self.launcher.program), "--limit", str(limit), "--input", "/dev/null", "--output", str(output), "--errors", str(errors)]
        for name, value in {**heap.environment, **(extra or {})}.items():
            call += ["--set", f"{name}={value}"]
        done = ended_by_itself([*call, "--", str(self.program), *arguments], self.launcher.environment, self.launcher.scratch)
        if done.returncode != 0:
            raise Complaint(done.stderr.strip().removeprefix("launch: ") or f"cannot run {self.program}")
        told = json.loads(done.stdout)
        ending = Ending(told["pid"], told["exit"], told["signal"], told["hung"], told["wall"],
                        output.read_text(errors="replace"), errors.read_text(errors="replace"))
        output.unlink()
        errors.unlink()
        return ending

    def objection(self, heap: Heap) -> str:
        """Why this library does not serve the probes' malloc; "" if it does."""
        with witness(self.launcher.scratch / "witness") as seen:
            ending = self.execute(heap, ["list"], self.limit or 20, seen.extra)
            if ending.exit != 0:
                return f"not one program runs on it: {describe(ending, 20).told}"
            return seen.objection(heap, ending.pid)

    def once(self, probe: Probe, heap: Heap) -> Verdict:
        limit = self.limit or probe.seconds
        return describe(self.execute(heap, ["run", probe.name], limit), limit)

    def verdict(self, probe: Probe, heap: Heap, demanded: bool) -> Verdict:
        """A demand that is not met is asked again, so that the reader knows whether it never is. A hang, which takes all the
        time it is given, is asked once more only."""
        first = self.once(probe, heap)
        again = min(self.again, 1) if first.kind == "hang" else self.again
        if not first.fails or not demanded or again == 0:
            return first
        others = [self.once(probe, heap) for _ in range(again)]
        return replace(first, runs=1 + len(others), failed=1 + sum(v.fails for v in others))


def describe(ending: Ending, limit: float) -> Verdict:
    words = last_line(ending.errors)
    said = f": {words}" if words else ""
    if ending.hung or ending.signal == SIGALRM:
        return Verdict("hang", f"no end in {limit:g} s{said}", seconds=ending.seconds)
    if ending.signal:
        return Verdict("crash", f"{signal_name(ending.signal)}{said}", seconds=ending.seconds)
    kinds = {0: "met", WRONG: "wrong", HUNG: "hang", CRASHED: "crash", NOT_APPLICABLE: "absent"}
    kind = kinds.get(ending.exit, "crash")
    if kind == "met":
        return Verdict(kind, note=last_line(ending.output), seconds=ending.seconds)
    return Verdict(kind, words if ending.exit in kinds and words else f"exit status {ending.exit}{said}", seconds=ending.seconds)
