"""The workloads of the built polder-bench, as it tells them itself, and the commands that run them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from polder_lab.complaint import Complaint, unknown
from polder_lab.place import Place

QUICK = "quick"
NOT_OF_PAPERS = ("smoke", QUICK)  # how the names of presets begin that only serve a purpose of ours

# The parameters that say how much is done, by which a workload without a quick preset is shortened: the first it has.
AMOUNTS = ("rounds", "count", "tasks", "cycles", "replacements", "repeats", "allocations", "steps", "objects")
SHORTER = 8


@dataclass(frozen=True)
class Workload:
    name: str
    title: str = ""
    paper: str = ""
    what: str = ""
    shows: str = ""
    group: str = "seeds"
    most_threads: int = 256
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    presets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def of_papers(self) -> list[str]:
        """The presets with a paper's values; where one is also there at a length that fits, that one."""
        names = [name for name in self.presets if not name.startswith(NOT_OF_PAPERS)]
        return [name for name in names if f"{name}-scaled" not in names]

    def values(self, preset: str | None) -> dict[str, Any]:
        if preset is None:
            return {name: p.get("default") for name, p in self.parameters.items()}
        if preset == QUICK and QUICK not in self.presets:
            return {**self.values(None), **self.shortened()}
        return dict(self.presets[preset])

    def shortened(self) -> dict[str, int]:
        for name in AMOUNTS:
            if name in self.parameters:
                amount = self.parameters[name]
                return {name: max(int(amount["default"]) // SHORTER, int(amount.get("min", 1)), 1)}
        return {}

    def command(self, bench: Path, threads: int, preset: str | None, seed: int | None = None) -> tuple[str, ...]:
        call = [str(bench), "run", self.name, "--threads", str(threads)]
        if preset == QUICK and QUICK not in self.presets:
            for name, value in self.shortened().items():
                call += ["--param", f"{name}={value}"]
        elif preset is not None:
            call += ["--preset", preset]
        return (*call, "--seed", str(seed)) if seed is not None else tuple(call)


def listed(place: Place) -> list[Workload]:
    try:
        told = subprocess.run([place.bench, "list", "--json"], capture_output=True, text=True, timeout=20, check=True).stdout
        entries = json.loads(told)["workloads"]
    except (OSError, subprocess.SubprocessError, ValueError, KeyError) as why:
        raise Complaint(f"{place.bench} does not list its workloads: {why}") from why
    words = ("name", "title", "paper", "what", "shows", "group", "most_threads")
    return [Workload(**{word: entry[word] for word in words if word in entry},
                     parameters={p["name"]: p for p in entry.get("parameters", ())},
                     presets={p["name"]: p["settings"] for p in entry.get("presets", ())}) for entry in entries]


def options_of(place: Place) -> set[str]:
    """The options that the built polder-bench knows, as its help says."""
    try:
        told = subprocess.run([place.bench, "help"], capture_output=True, text=True, timeout=20).stdout
    except (OSError, subprocess.SubprocessError):
        return set()
    return {option for option in ("--latency", "--live") if option in told}


def check_preset(preset: str, workloads: Sequence[Workload]) -> None:
    known = dict.fromkeys(name for workload in workloads for name in workload.presets)
    if preset != QUICK and preset not in known:
        raise unknown("preset", preset, known)
