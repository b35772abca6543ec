"""The matrix, over probes that fail in one way each."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Laboratory
from test_launch import running

from polder_lab.conform.run import last_line


def test_all_is_met(polder: Laboratory) -> None:
    done = polder("conform")
    assert done.returncode == 0, done.stderr
    assert "✗ " not in done.stdout.split("✓ met")[0]
    assert "demands met" in done.stdout
    assert "7 of 7" in done.stdout  # the absent one is not counted
    assert "polder, double-free: fake: double free of `p`" in done.stdout


@pytest.mark.parametrize(("probe", "cell", "footnote"), [
    ("wrong", "✗ wrong [1]", "[1] polder, wrong: wrong: 1 of 2 blocks"),
    ("crash", "✗ crash [1]", "[1] polder, crash: SIGSEGV: crash: 1 of 2 blocks"),
    ("crash-of-a-child", "✗ crash [1]", "[1] polder, crash-of-a-child: crash-of-a-child: 1 of 2 blocks"),
    ("hang-of-a-child", "✗ hang [1]", "[1] polder, hang-of-a-child: hang-of-a-child: 1 of 2 blocks"),
])
def test_a_failure_is_told(polder: Laboratory, probe: str, cell: str, footnote: str) -> None:
    done = polder("conform", extra={"FAKE_PROBE": probe})
    assert done.returncode == 1
    assert cell in done.stdout
    times = 2 if "hang" in cell else 3
    assert f"{footnote} ({times} of {times} runs)" in done.stdout
    assert "6 of 7" in done.stdout


def test_a_hang_is_ended(polder: Laboratory) -> None:
    done = polder("conform", "--only", "hang", "--limit", "2", "--again", "0", extra={"FAKE_PROBE": "hang"})
    assert done.returncode == 1
    assert "✗ hang [1]" in done.stdout
    assert "[1] polder, hang: no end in 2 s: hang: 1 of 2 blocks" in done.stdout


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interruption_keeps_what_is_finished(how: int, build: Path, environment: dict[str, str], tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    call = [sys.executable, "-m", "polder_lab", "conform", "--build", str(build), "--only", "good,hang"]
    with subprocess.Popen(call, env={**environment, "FAKE_PROBE": "hang", "FAKE_STARTS": str(starts)}, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, start_new_session=True) as asking:
        while not starts.exists() and asking.poll() is None:
            time.sleep(0.05)
        asking.send_signal(how)
        output, errors = asking.communicate(timeout=60)
    assert asking.returncode == 130, errors
    assert "good" in output
    assert "hang " not in output.split("✓ met")[0]
    assert "interrupted" in errors
    assert running(str(build / "bin")) == []


def test_a_failure_that_does_not_repeat_says_so(polder: Laboratory, tmp_path: Path) -> None:
    done = polder("conform", "--only", "flaky", extra={"FAKE_PROBE": "flaky", "FAKE_STARTS": str(tmp_path / "starts")})
    assert done.returncode == 1
    assert "(1 of 3 runs)" in done.stdout


def test_what_nobody_demands_is_not_counted(polder: Laboratory) -> None:
    done = polder("conform", extra={"FAKE_PROBE": "wish"})
    assert done.returncode == 0
    assert "✗ wrong [1]" in done.stdout
    assert "Beyond *" in done.stdout


@pytest.mark.parametrize(("command", "question"), [("conform", "good"), ("mistakes", "held")])
def test_all_without_polder_is_refused(polder: Laboratory, own_library: Path, compiled: Callable[[str], Path], command: str,
                                       question: str) -> None:
    own_library.write_bytes(compiled("NO_MALLOC").read_bytes())
    done = polder(command, "--all", "--only", question)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("polder: polder: not served: malloc is that of")
    own_library.unlink()
    done = polder(command, "--all", "--only", question)
    assert (done.returncode, done.stderr) == (2, "polder: polder: not there\n")


def test_a_library_by_path(polder: Laboratory, compiled: Callable[[str], Path]) -> None:
    done = polder("conform", "--lib", str(compiled("")), "--only", "good,absent")
    assert done.returncode == 0, done.stderr
    assert "plain" in done.stdout.splitlines()[0]


def test_a_library_that_serves_no_malloc_is_refused(polder: Laboratory, compiled: Callable[[str], Path]) -> None:
    done = polder("conform", "--lib", str(compiled("NO_MALLOC")))
    assert done.returncode == 2
    assert "no_malloc: not served: malloc is that of" in done.stderr


def test_a_library_on_which_nothing_runs_is_refused(polder: Laboratory, compiled: Callable[[str], Path]) -> None:
    done = polder("conform", "--lib", str(compiled("CRASHES")))
    assert done.returncode == 2
    assert "crashes: not one program runs on it: SIGABRT" in done.stderr


def test_every_heap_that_is_there(polder: Laboratory) -> None:
    done = polder("conform", "--all", "--only", "wrong", "--again", "0", extra={"FAKE_PROBE": "wrong"})
    assert done.returncode == 1  # polder fails too
    assert done.stdout.split()[:2] == ["system", "polder"]
    assert "left out: absent: not there" in done.stdout
    assert "[2] polder, wrong:" in done.stdout


def test_the_records(polder: Laboratory, tmp_path: Path) -> None:
    raw = tmp_path / "raw.json"
    done = polder("conform", "--heap", "system,polder", "--json", str(raw), "--markdown", extra={"FAKE_PROBE": "wrong"})
    assert done.returncode == 1
    told = json.loads(raw.read_text())
    assert told["schema"] == "polder-conform/1"
    assert [heap["name"] for heap in told["heaps"]] == ["system", "polder"]
    assert len(told["results"]) == 2 * len(told["probes"])
    result = next(r for r in told["results"] if (r["probe"], r["heap"]) == ("wrong", "polder"))
    assert (result["verdict"], result["runs"], result["failed"], result["told"]) == ("wrong", 3, 3, "wrong: 1 of 2 blocks")
    assert "| `wrong` | demand of wrong (clause wrong) | ✗ wrong [1] | ✗ wrong [2] |" in done.stdout
    assert "- [2] polder, wrong: `wrong: 1 of 2 blocks (3 of 3 runs)`" in done.stdout
    assert "``fake: double free of `p` ``" in done.stdout


def test_the_list(polder: Laboratory) -> None:
    done = polder("conform", "--list")
    assert done.returncode == 0
    assert "demand of crash (clause crash)" in done.stdout
    told = json.loads(polder("conform", "--list", "--json", "-", "--only", "beyond").stdout)
    assert [probe["name"] for probe in told["probes"]] == ["wish"]


@pytest.mark.parametrize(("arguments", "says"), [
    (["--only", "wrang"], "there is no probe 'wrang'; nearest: wrong"),
    (["--heap", "poldr"], "there is no heap 'poldr'; nearest: polder"),
    (["--heap", "absent"], "is not there"),
    (["--lib", "no/such.so"], "there is no library"),
    (["--json", "no/such/folder/x.json"], "--json: there is no folder"),
])
def test_bad_input_is_one_clear_line(polder: Laboratory, arguments: list[str], says: str) -> None:
    done = polder("conform", *arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_what_a_dying_heap_says_is_one_printable_line() -> None:
    assert last_line("first\nlast li\0ne: \x1b[31m \n\0\n\n") == "last li ne:  [31m"
    assert last_line("") == ""
    assert last_line("9 /home/me/build/heap-1.0/a_b.cc:15] CHECK: 1/2, /proc/maps") == "9 …/a_b.cc:15] CHECK: 1/2, /proc/maps"
