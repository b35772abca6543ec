"""What is touched before a run."""

from __future__ import annotations

import mmap
import resource
from pathlib import Path
from typing import Any

import pytest

from polder_lab import experiment, warmth
from polder_lab.experiment import Experiment, Terms
from polder_lab.heap import SYSTEM, Heap
from polder_lab.instrument import Instrument
from polder_lab.launch import Launcher, Run
from polder_lab.room import room
from polder_lab.row import Row


def faulted() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def test_every_page_is_touched_or_a_huge_one_around_it(monkeypatch: pytest.MonkeyPatch) -> None:
    touched: list[bool] = []

    class Watched(mmap.mmap):
        def __exit__(self, *rest: Any) -> None:
            touched.append(all(self[i] == 1 for i in range(0, len(self), mmap.PAGESIZE)))
            super().__exit__(*rest)

    monkeypatch.setattr("polder_lab.warmth.mmap.mmap", Watched)
    before = faulted()
    warmth.warm(20 << 20)
    assert touched == [True]
    assert faulted() - before >= 20 / 2 * warmth.MORE


def test_what_cannot_be_had_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warmth, "room", lambda: 1 << 63)
    warmth.warm(1 << 62)


def test_of_what_is_left_no_more_than_half(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []

    class Sized(mmap.mmap):
        def __exit__(self, *rest: Any) -> None:
            sizes.append(len(self))
            super().__exit__(*rest)

    monkeypatch.setattr("polder_lab.warmth.mmap.mmap", Sized)
    monkeypatch.setattr(warmth, "room", lambda: 40 << 20)
    warmth.warm(1 << 40)
    assert sizes == [22 << 20]


@pytest.mark.parametrize(("limit", "used", "cached", "left"), [("max", 7, 0, None), ("1000", 900, 0, 100), ("1000", 900, 300, 400),
                                                               ("1000", 2000, 0, 0)])
@pytest.mark.parametrize("inner", [True, False])
@pytest.mark.parametrize("version", [1, 2])
def test_what_is_left_in_a_control_group(tmp_path: Path, limit: str, used: int, cached: int, left: int | None, inner: bool,
                                         version: int) -> None:
    """In the process's own, or in one that holds it."""
    of, root = tmp_path / "cgroup", tmp_path / ("memory" if version == 1 else "")
    of.write_text("3:cpu:/other\n4:memory:/a/b\n" if version == 1 else "0::/a/b\n")
    folder = root / ("a/b" if inner else "a")
    (root / "a/b").mkdir(parents=True)
    names = ("memory.limit_in_bytes", "memory.usage_in_bytes") if version == 1 else ("memory.max", "memory.current")
    for name, text in zip((*names, "memory.stat"), (limit, str(used), f"anon 5\ninactive_file {cached}\n"), strict=True):
        (folder / name).write_text(f"{text}\n")
    found = room(tmp_path, str(of))
    assert found == left if left is not None else found > 1 << 20


class Sized(Instrument):
    def run(self, launcher: Launcher, row: Row, extra: Any, limit: float) -> Run:
        return Run(seconds=0.1, wall=0.1, user=0, system=0, peak_rss=int(row.name) + (1000 if "LD_PRELOAD" in extra else 0),
                   minor_faults=0, major_faults=0, output="")


def test_as_much_as_the_row_has_taken_so_far(monkeypatch: pytest.MonkeyPatch, launcher: Launcher, tmp_path: Path) -> None:
    asked: list[int] = []
    monkeypatch.setattr(experiment, "warm", asked.append)
    rows = [Row(size, "command", ("true",)) for size in ("5", "7")]
    heaps = [SYSTEM, Heap("other", "file", library=tmp_path / "libother.so")]
    one = Experiment(rows, heaps, Terms(rounds=2, minutes=1, limit=1, seed=1), launcher, None, instruments=[Sized()])  # type: ignore[arg-type]
    for heap in heaps:
        one.measured(Sized(), 0, 0, heap)
    one.measured(Sized(), 0, 1, heaps[0])
    one.measured(Sized(), 1, 0, heaps[0])
    one.measured(Sized(), 1, 1, heaps[0])
    assert asked == [0, 5, 0, 1005, 7]
