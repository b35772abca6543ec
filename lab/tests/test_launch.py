from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from polder_lab.complaint import Complaint
from polder_lab.launch import Launcher


def running(word: str) -> list[int]:
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                if word.encode() in Path("/proc", entry, "cmdline").read_bytes():
                    found.append(int(entry))
            except OSError:
                pass
    return found


def until(said: Callable[[], bool], patience: float = 30) -> bool:
    deadline = time.monotonic() + patience
    while not said() and time.monotonic() < deadline:
        time.sleep(0.05)
    return said()


# So many MiB, a fault for each page, whatever the system does about huge ones.
TOUCH = """import mmap, sys
m = mmap.mmap(-1, int(sys.argv[1]) << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
try:
    m.madvise(mmap.MADV_NOHUGEPAGE)
except OSError:
    pass
for page in range(0, len(m), mmap.PAGESIZE):
    m[page] = 1"""


def test_peak_rss_is_the_command_s_and_not_the_harness_s(launcher: Launcher) -> None:
    ballast = bytearray(200 << 20)
    small = launcher.run(["true"])
    large = launcher.run([sys.executable, "-S", "-c", TOUCH, "100"])
    del ballast
    assert small.peak_rss < 8 << 20
    assert 100 << 20 < large.peak_rss < 150 << 20
    assert large.faults > 25_000


def test_peak_rss_and_faults_are_those_of_the_tree(launcher: Launcher) -> None:
    run = launcher.run(["sh", "-c", f"{sys.executable} -S -c '{TOUCH}' 60; true"])
    assert run.peak_rss > 60 << 20
    assert run.faults > 15_000


@pytest.mark.parametrize(("command", "trouble"), [
    (["sh", "-c", "echo first >&2; echo the reason >&2; exit 3"], "fails: exit status 3: the reason"),
    (["sh", "-c", "kill -SEGV $$"], "crashes: SIGSEGV"),
    (["true"], ""),
])
def test_how_it_ended(launcher: Launcher, command: list[str], trouble: str) -> None:
    assert launcher.run(command).trouble == trouble


def test_a_hanging_tree_is_ended_whole(launcher: Launcher) -> None:
    start = time.monotonic()
    run = launcher.run(["sh", "-c", "sleep 876.1 & setsid sleep 876.2 & sleep 876.3"], limit=0.5)
    assert run.trouble == "hangs: ended after 0.5 s"
    assert time.monotonic() - start < 20
    assert running("876.") == []


def test_a_killed_launcher_leaves_no_command(launcher: Launcher) -> None:
    with subprocess.Popen([launcher.program, "--", "sleep", "879.1"], stdout=subprocess.PIPE) as started:
        until(lambda: len(running("879.1")) == 2)
        started.kill()
    assert until(lambda: running("879.1") == [])


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_ends_the_command_and_leaves_no_folder(how: int, build: Path, environment: dict[str, str], tmp_path: Path) -> None:
    """The signal goes to the laboratory alone, not to the group as it does from a terminal."""
    begun, scratch = tmp_path / "begun", tmp_path / "scratch"
    scratch.mkdir()
    call = [sys.executable, "-m", "polder_lab", "compare", "--build", str(build), "--rounds", "1", "--", "sh", "-c",
            f"touch {begun}; exec sleep 878.1"]
    with subprocess.Popen(call, env={**environment, "TMPDIR": str(scratch)}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, start_new_session=True) as one:
        until(lambda: begun.exists() or one.poll() is not None)
        one.send_signal(how)
        _, errors = one.communicate(timeout=60)
    assert one.returncode == 130, errors
    assert running("878.1") == []
    assert os.listdir(scratch) == []


def test_what_a_command_leaves_behind_is_ended(launcher: Launcher) -> None:
    assert launcher.run(["sh", "-c", "setsid sleep 877.1 & sleep 877.2 &"]).trouble == ""
    assert running("877.") == []


def test_same_output_same_digest(launcher: Launcher) -> None:
    assert launcher.run(["echo", "a"]).output == launcher.run(["echo", "a"]).output != launcher.run(["echo", "b"]).output


def test_extra_is_for_the_command_alone(launcher: Launcher) -> None:
    run = launcher.run(["sh", "-c", 'test "$ONLY_HERE" = "1=2"'], extra={"ONLY_HERE": "1=2"})
    assert run.trouble == ""
    assert "ONLY_HERE" not in os.environ


def test_what_cannot_be_run_is_a_complaint(launcher: Launcher) -> None:
    with pytest.raises(Complaint, match="nonesuch"):
        launcher.run(["nonesuch-program"])


def test_a_result_line_is_read(launcher: Launcher) -> None:
    line = '{"seconds": 2.5, "operations": 10, "peak_rss_kb": 2048, "ok": true, "why": null}'
    run = launcher.run(["echo", line], result_line=True)
    assert (run.seconds, run.operations, run.peak_rss, run.trouble) == (2.5, 10, 2 << 20, "")
    assert launcher.run(["echo", "no result"], result_line=True).trouble == "the workload printed no result"
    assert launcher.run(["true"], result_line=True).trouble == "the workload printed no result"
    lost = launcher.run(["echo", '{"ok": false, "why": "1 block was lost"}'], result_line=True)
    assert lost.trouble == "1 block was lost"


GROWS = "import time; a = []\nfor _ in range(6): a.append(bytearray(20 << 20)); time.sleep(0.06)"


@pytest.mark.parametrize("command", [[sys.executable, "-S", "-c", GROWS], ["sh", "-c", f"{sys.executable} -S -c '{GROWS}'; true"]],
                         ids=["alone", "a child"])
def test_memory_over_time(launcher: Launcher, command: list[str]) -> None:
    run = launcher.run(command, sample=0.01)
    rss = run.samples["rss"]
    assert len(rss) == pytest.approx(run.wall / 0.01, abs=1), "a regular grid to the end, however late a tick came"
    growing = rss[:rss.index(max(rss))]
    assert growing == sorted(growing)
    assert len(growing) > 5 * 6 - 2, "it sleeps five times before it has all"
    assert max(rss) == pytest.approx(run.peak_rss, rel=0.05)
    assert any(20 << 20 < level < 100 << 20 for level in growing)
    assert 0 < run.samples["pss"][-1][1] <= max(rss)
    assert 0 < run.samples["page_tables"][-1][1] < 10 << 20
    assert launcher.run([command[0], "-c", "exit 0"]).samples == {}
