"""A suite: rows of one workload whose settings differ, measured so that they can be compared with each other. Or a field: every row,
under chosen heaps.

A row is a choice of settings; a comparison says which row is set against which. Rows of one `together` are interleaved as
one (experiment.py), since ratios between rows are paired by round as those between allocators are.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from polder_lab.place import Place
from polder_lab.workload import Workload

Chosen = Mapping[str, str]  # a value for each of some parameters


@dataclass(frozen=True)
class Line:
    """One row of a comparison, and the one that it is set against."""

    label: str
    of: Chosen
    to: Chosen


@dataclass(frozen=True)
class Comparison:
    key: str
    title: str
    what: str
    lines: Sequence[Line]
    together: str
    measures: tuple[str, ...] = ("time",)  # of report/compared.py, that the terminal shows
    brief: str = "all"  # which of the numbers of threads a quick run takes: all, fewest, most


@dataclass(frozen=True)
class Size:
    """How much, in a mode of `bench run`."""

    threads: tuple[int, ...]
    minutes: float
    heaps: tuple[str, ...]
    settings: Chosen
    brief: bool = False
    repeats: int = 2  # of the pass frees


@dataclass
class Choices:
    """What the built workload can be told, and which of it goes together."""

    workload: Workload
    place: Place
    refused: dict[tuple[tuple[str, str], ...], str] = field(default_factory=dict)

    def of(self, parameter: str) -> list[str]:
        return [str(choice) for choice in self.workload.parameters.get(parameter, {}).get("choices", ())]

    def refuses(self, chosen: Chosen, threads: int = 1) -> str:
        """Why the workload does not run so; "" if it does. It is asked, with as little work as there can be."""
        key = (*sorted(chosen.items()), ("", str(threads)))
        if key not in self.refused:
            least = {name: value for name, value in (("keys", "2"), ("steps", "1"), ("elements", "1")) if name in self.workload.parameters}
            words = [word for pair in {**least, **chosen}.items() for word in ("--param", "=".join(pair))]
            self.refused[key] = refusal([str(self.place.bench), "run", self.workload.name, "--threads", str(threads), *words])
        return self.refused[key]


def refusal(command: Sequence[str]) -> str:
    """Status 2 is bad input; whatever else goes wrong shows when it is measured."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20)
    except subprocess.SubprocessError:
        return ""
    if done.returncode != 2:
        return ""
    lines = done.stderr.strip().splitlines()
    return (lines[0] if lines else "refused").removeprefix("polder-bench: ")


@dataclass(frozen=True)
class Suite:
    name: str
    title: str
    what: str
    workload: str
    named_by: tuple[str, ...]  # the parameters whose values name a row
    sizes: Mapping[str, Size]  # by mode
    compare: Callable[[Choices, Size], list[Comparison]]
    absent: Callable[[Choices], list[str]] = lambda _: []  # what is looked for and not there, a line each
    passes: tuple[str, ...] = ("time",)
    without: Callable[[Chosen], frozenset[str]] = lambda _: frozenset()  # of the passes, those that say nothing of such a row
    by_threads: bool = False  # what the workload refuses depends on their number

    @property
    def over(self) -> str:
        return f"the workload {self.workload}"

    def variant(self, chosen: Chosen) -> str:
        """The name of a row's settings; it stands where a preset's name does."""
        return ".".join(chosen[parameter] for parameter in self.named_by)


@dataclass(frozen=True)
class Field:
    """The usual rows, but for some groups, under chosen heaps; each heap is set against the best peer of each row."""

    name: str
    title: str
    what: str
    sizes: Mapping[str, Size]  # by mode
    leaves_out: frozenset[str]  # groups
    passes: tuple[str, ...] = ("time",)

    @property
    def over(self) -> str:
        return "the workloads and programs"
