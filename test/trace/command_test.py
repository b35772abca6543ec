"""`polder trace` with the built recorder, polder-trace and heaps: real programs, from the recording to the table."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

BUILD = os.environ["POLDER_BUILD"]
SHIPPED = sorted((Path(__file__).resolve().parents[2] / "traces").glob("*.trace"))
Trace = Callable[..., subprocess.CompletedProcess[str]]
THREADS = "import threading; [t.start() for t in [threading.Thread(target=lambda: [bytearray(5000) for _ in range(50)]) for _ in range(3)]]"


@pytest.fixture
def trace(tmp_path: Path) -> Trace:
    def call(command: str, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-m", "polder_lab", "trace", command, "--build", BUILD, *words], cwd=tmp_path, check=False,
                              capture_output=True, text=True, timeout=100)

    return call


@pytest.mark.parametrize("heap", [(), ("--heap", "polder")])
def test_from_a_program_to_a_comparison(trace: Trace, tmp_path: Path, heap: tuple[str, ...]) -> None:
    done = trace("record", "-o", "p.trace", *heap, "--", sys.executable, "-S", "-c", THREADS + "; print('out')")
    assert (done.returncode, done.stdout) == (0, "out\n"), done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["p.trace"]
    about = json.loads(trace("describe", "p.trace", "--json").stdout)
    assert about["threads"] == 4
    assert about["foreign"] == 0
    assert dict(about["common_sizes"]).get(5001) == 150
    assert trace("describe", "p.trace").returncode == 0
    done = trace("replay", "p.trace", "--rounds", "1", "--repeat", "2", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout)["heaps"]
    assert [h["heap"] for h in told] == ["system", "polder"]
    counts = [{k: h["replays"][0][k] for k in ("operations", "allocations", "frees", "remote_frees", "calls")} for h in told]
    assert counts[0] == counts[1]
    assert counts[0]["operations"] == 2 * (about["events"] - about["failed"])


def test_children_have_traces_of_their_own(trace: Trace, tmp_path: Path) -> None:
    done = trace("record", "--children", "-o", "c.trace", "--", "sh", "-c", "perl -e 1; exit 3")
    assert done.returncode == 3, done.stderr
    programs = {json.loads(trace("describe", p.name, "--json").stdout)["program"] for p in tmp_path.glob("c*.trace")}
    assert "perl" in programs


@pytest.mark.parametrize("file", SHIPPED, ids=lambda p: p.stem)
def test_shipped_traces(trace: Trace, file: Path) -> None:
    assert file.stat().st_size < 150_000
    about = json.loads(trace("describe", str(file), "--json").stdout)
    assert about["foreign"] == 0
    assert not about["cut_short"]
    done = trace("replay", str(file), "--rounds", "1", "--repeat", "1")
    assert done.returncode == 0, done.stdout + done.stderr


def test_there_are_shipped_traces() -> None:
    assert len(SHIPPED) >= 5
