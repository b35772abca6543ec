"""A mistake made many times under one heap: how the runs ended."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass, fields
from pathlib import Path

from polder_lab.complaint import Complaint
from polder_lab.heap import Heap
from polder_lab.launch import inherited, signal_name

MOST_HUNG = 3  # as test/hardening/tally.cpp has it


@dataclass(frozen=True)
class Count:
    runs: int = 0
    noticed: int = 0  # the heap said so, and ended the process
    died: int = 0  # the process died without a word
    told: int = 0  # the heap said so, and went on; no harm was seen
    unharmed: int = 0  # it went on; no harm was seen
    harmed: int = 0  # it went on, and the mistake succeeded
    hung: int = 0
    absent: int = 0  # cannot be made here
    astray: int = 0  # ended as no mistake ends
    said: str = ""  # the first line the heap ever said
    strange: str = ""  # how the first one went astray

    @property
    def made(self) -> int:
        return self.runs - self.absent

    @property
    def spoken(self) -> int:
        return self.noticed + self.told

    @property
    def stopped(self) -> int:
        """Runs that did not simply go on."""
        return self.spoken + self.died

    def __add__(self, other: Count) -> Count:
        together = {f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(Count) if f.type == "int"}
        return Count(**together, said=self.said or other.said, strange=self.strange or other.strange)


class Counter:
    def __init__(self, program: Path) -> None:
        self.program = program
        self.environment = inherited()

    def count(self, mistake: str, heap: Heap, runs: int, seed: int) -> Count:
        settings = [f"{name}={value}" for name, value in heap.environment.items()]
        done = subprocess.run([self.program, "tally", mistake, str(runs), str(seed), *settings], capture_output=True, text=True,
                              errors="replace", env=self.environment)
        try:
            return Count(**json.loads(done.stdout))
        except (ValueError, TypeError) as why:
            ending = done.stderr.strip() or (signal_name(-done.returncode) if done.returncode < 0 else why)
            raise Complaint(f"{self.program} counts nothing of {mistake} under {heap.name}: {ending}") from why
