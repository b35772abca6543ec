"""The whole of it, called as the front door calls it."""

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

from polder_lab.cli import main

PYTHON = str(Path(sys.executable).resolve())
QUICK = ("--rounds", "6", "--seed", "1")


def test_the_table(polder: Laboratory, tmp_path: Path) -> None:
    raw = tmp_path / "raw.json"
    done = polder("compare", *QUICK, "--quick", "--only", "jq,larson", "--threads", "1,8", "--json", str(raw))
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines()[:-1])) <= 100
    for word in ("larson ×1", "larson ×8", "jq ", "real programs (", "workloads (2)", "all rows (", "6 paired rounds"):
        assert word in done.stdout
    told = json.loads(raw.read_text())
    assert told["schema"] == "polder-compare/1"
    assert told["machine"]["kernel"]
    assert told["machine"]["libc"].startswith("glibc")
    larson = next(row for row in told["rows"] if row["name"] == "larson")
    assert len(larson["heaps"]["polder"]["runs"]) == len(larson["heaps"]["system"]["runs"]) == 6
    run = larson["heaps"]["polder"]["runs"][0]
    assert (run["seconds"], run["operations"]) == (0.25, 1000)
    assert run["minor_faults"] > 100
    assert larson["ratios"]["polder"]["seconds"] == {"value": 1.0, "low": 1.0, "high": 1.0, "verdict": "even"}
    assert set(told["overall"]["polder"]) == {"seconds", "peak_rss", "faults"}


def test_markdown(polder: Laboratory, compiled: Callable[[str], Path]) -> None:
    done = polder("compare", "--rounds", "1", "--only", "larson/1", "--heaps", f"polder,{compiled('SLOW')}", "--markdown")
    assert done.returncode == 0, done.stderr
    table = [line for line in done.stdout.splitlines() if line.startswith("|")]
    assert len({line.count("|") for line in table}) == 1
    assert any("slow" in line for line in table)
    assert "need at least 6 rounds" in done.stdout


def test_any_command(polder: Laboratory) -> None:
    done = polder("compare", *QUICK, "--", "perl", "-e", "print 1, $_ x 3 for 1..5")
    assert done.returncode == 0, done.stderr
    assert "perl" in done.stdout
    assert "all rows (1)" in done.stdout


def test_a_slow_and_a_fat_heap_are_seen_to_be(polder: Laboratory, compiled: Callable[[str], Path], tmp_path: Path) -> None:
    raw = tmp_path / "raw.json"
    job = "x = [bytearray(5000) for _ in range(8000)]"
    done = polder("compare", *QUICK, "--json", str(raw), "--heaps", f"{compiled('SLOW')},{compiled('FAT')}", "--", PYTHON, "-S", "-c", job)
    assert done.returncode == 0, done.stderr
    told = json.loads(raw.read_text())["rows"][0]["ratios"]
    assert told["slow"]["seconds"]["verdict"] == "worse"
    assert told["slow"]["seconds"]["low"] > 1
    assert told["fat"]["peak_rss"]["value"] > 1.2
    assert "slower (the whole interval above 1) in 1" in done.stdout


@pytest.mark.parametrize(("habit", "story"), [
    ("CRASHES", "crashes: SIGABRT"),
    ("HANGS", "hangs: ended after 5 s"),
    ("CHATTY", "prints something else than under the system's malloc"),
    ("NO_MALLOC", "not served: malloc is that of"),
])
def test_a_bad_heap_is_a_row_that_says_so(polder: Laboratory, compiled: Callable[[str], Path], habit: str, story: str) -> None:
    job = "x = [bytearray(5000) for _ in range(400)]; print(len(x))"
    done = polder("compare", *QUICK, "--limit", "5", "--heaps", f"polder,{compiled(habit)}", "--", PYTHON, "-S", "-c", job)
    assert done.returncode == 1
    failed = " ".join(" ".join(done.stdout.split()).split("FAILED")[1:])
    assert f"under {habit.lower()} {story}" in failed
    assert "polder is" in done.stdout, "the other heap is measured all the same"


def test_a_crash_in_a_later_round_is_a_row_too(polder: Laboratory, compiled: Callable[[str], Path], tmp_path: Path) -> None:
    done = polder("compare", *QUICK, "--heaps", str(compiled("LATER")), "--", PYTHON, "-S", "-c", "print(1)",
                  extra={"TELL_TO": str(tmp_path / "starts")})
    assert done.returncode == 1
    assert "under later crashes: SIGABRT" in done.stdout
    assert (tmp_path / "starts").stat().st_size == 4, "a row that failed is not run again"


def test_a_failing_workload_is_a_row_that_says_so(polder: Laboratory) -> None:
    done = polder("compare", *QUICK, "--only", "larson", "--threads", "1,2", extra={"FAKE_BENCH_FAILS": "larson/2"})
    assert done.returncode == 1
    assert "FAILED    larson ×2 under system fails: exit status 1 (1 block was lost)" in done.stdout
    assert "larson ×1" in done.stdout


def test_a_command_that_fails_of_itself(polder: Laboratory) -> None:
    done = polder("compare", *QUICK, "--", "sh", "-c", "echo why >&2; exit 7")
    assert done.returncode == 1
    assert "under system fails: exit status 7: why" in done.stdout


def test_output_that_varies_of_itself_is_not_compared(polder: Laboratory) -> None:
    done = polder("compare", *QUICK, "--", PYTHON, "-S", "-c", "import os; print(os.getpid())")
    assert done.returncode == 0
    assert "prints something else each time" in done.stdout


def test_the_heap_is_in_the_command_and_nowhere_else(polder: Laboratory, compiled: Callable[[str], Path], tmp_path: Path) -> None:
    log = tmp_path / "log"
    done = polder("compare", "--rounds", "2", "--heaps", str(compiled("TELLS")), "--", "perl", "-e", "1", extra={"TELL_TO": str(log)})
    assert done.returncode == 0, done.stderr
    programs = log.read_text().split()
    assert len(programs) == 3, "one warm-up and two rounds, and none under the system's malloc"
    assert len(set(programs)) == 1
    assert "perl" in programs[0]


def test_what_one_allocator_is_set_up_by_is_not_handed_on(polder: Laboratory) -> None:
    known = {"MALLOC_ARENA_MAX": "2", "MIMALLOC_PURGE_DELAY": "0", "GLIBC_TUNABLES": "glibc.malloc.check=3",
             "TBB_MALLOC_USE_HUGE_PAGES": "1"}
    done = polder("compare", "--rounds", "1", "--", "perl", "-e", "print join ' ', grep { /MALLOC_|TUNABLES|POLDER_O/ } keys %ENV",
                  extra={**known, "PYTHONMALLOC": "malloc", "POLDER_OPTIONS": "decay_ms=0"})
    assert f"not handed on to what is measured: {', '.join(sorted(known))}" in done.stderr
    assert "POLDER_OPTIONS=decay_ms=0" in done.stdout + done.stderr
    assert done.returncode == 0


def test_an_inherited_preload_is_not_handed_on(polder: Laboratory, compiled: Callable[[str], Path]) -> None:
    done = polder("compare", "--rounds", "1", "--", "perl", "-e", "print $ENV{LD_PRELOAD} =~ /chatty/ ? 'bad' : 'good'",
                  extra={"LD_PRELOAD": str(compiled("CHATTY"))})
    assert "not handed on to what is measured: LD_PRELOAD" in done.stderr
    assert "not the system's malloc" not in done.stdout
    assert done.returncode == 0


def test_standard_input_is_read_anew_each_time(polder: Laboratory, tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("1\n2\n")
    check = ("--rounds", "2", "--", "perl", "-e", "@a = <STDIN>; exit(@a != 2)")
    with text.open() as file:
        assert polder("compare", *check, stdin=file.fileno()).returncode == 0
    assert polder("compare", "--input", str(text), *check).returncode == 0
    assert polder("compare", *check).returncode == 1


@pytest.mark.parametrize(("arguments", "message"), [
    (("compare", "--only", "larsen"), "nothing matches larsen; nearest: larson"),
    (("compare", "--only", "larson/1,redsi"), "nothing matches redsi; nearest: redis"),
    (("compare", "--only", "larson", "--threads", "300"), "larson can be measured: larson runs with at most 64 threads"),
    (("compare", "--heaps", "poldr"), "there is no heap 'poldr'; nearest: polder"),
    (("compare", "--heaps", "absent"), "is not built"),
    (("compare", "--heaps", "polder,glibc"), "there is no heap 'glibc'; the C library's malloc is called system here"),
    (("explain", "glibc"), "there is no heap 'glibc'; the C library's malloc is called system here"),
    (("compare", "--input", "nofile", "--only", "jq"), "--input is for a command"),
    (("compare", "--threads", "two"), "--threads wants numbers"),
    (("compare", "--", "nonesuch-program"), "cannot run nonesuch-program"),
    (("compare", "--only", "jq", "--", "true"), "do not go with a command"),
    (("compare", "--json", "/nowhere/x.json"), "no folder /nowhere"),
    (("compare", "--json", "/"), "--json: / is a folder"),
    (("compare", "--minutes", "nan", "--", "true"), "nan is not a number"),
    (("compare", "--limit", "inf", "--", "true"), "inf is not a number"),
    (("explain", "poldr"), "nearest: polder"),
    (("list", "heapz"), "there is no command 'heapz'; nearest: heaps"),
    (("compare", "--heap", "polder"), "--heaps"),
])
def test_wrong_use(polder: Laboratory, arguments: tuple[str, ...], message: str) -> None:
    done = polder(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_a_file_that_cannot_be_written_after_all_costs_no_result(polder: Laboratory) -> None:
    done = polder("compare", "--rounds", "1", "--json", "/dev/full", "--", "true")
    assert done.returncode == 2
    assert "all rows (1)" in done.stdout
    assert done.stderr.splitlines()[-1] == "polder: --json: cannot write /dev/full: No space left on device"


@pytest.mark.parametrize("arguments", [["list", "heaps"], ["list", "heaps", "--json"], ["bench", "list"]])
def test_output_that_cannot_be_written_is_told_in_one_line(build: Path, environment: dict[str, str], arguments: list[str]) -> None:
    call = [sys.executable, "-m", "polder_lab", *arguments, "--build", str(build)]
    with open("/dev/full", "w") as full:
        done = subprocess.run(call, stdout=full, stderr=subprocess.PIPE, text=True, env=environment, timeout=60)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == "polder: No space left on device"
    assert "Traceback" not in done.stderr


def test_an_interruption_keeps_what_is_finished_and_leaves_nothing(build: Path, environment: dict[str, str]) -> None:
    call = [sys.executable, "-m", "polder_lab", "compare", "--build", str(build), "--rounds", "500", "--", "sh", "-c", "sleep 0.31879"]
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as running_one:
        assert running_one.stderr is not None
        for line in running_one.stderr:
            if line.startswith("round 3 "):
                break
        running_one.send_signal(signal.SIGINT)
        out, _ = running_one.communicate(timeout=60)
    assert running_one.returncode == 130
    assert "Interrupted: only the 2 finished rounds are counted." in out
    deadline = time.monotonic() + 10
    while running("0.31879") and time.monotonic() < deadline:
        time.sleep(0.1)
    assert running("0.31879") == []


def test_an_interruption_without_anything_to_show_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(build: Path | None) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("polder_lab.place.find", interrupted)
    with pytest.raises(SystemExit) as end:
        main(["list", "heaps"])
    assert end.value.code == 130
    assert capsys.readouterr().err == "polder: interrupted\n"


def test_an_interruption_while_it_is_loading_is_one_line(environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("raise KeyboardInterrupt")
    loading = {**environment, "PYTHONPATH": f"{tmp_path}:{environment['PYTHONPATH']}"}
    done = subprocess.run([sys.executable, "-m", "polder_lab", "list", "heaps"], capture_output=True, text=True, env=loading, timeout=60)
    assert (done.returncode, done.stderr) == (130, "polder: interrupted\n")


def test_standard_input_may_be_closed(build: Path, environment: dict[str, str]) -> None:
    call = f"{sys.executable} -m polder_lab compare --build {build} --rounds 1 -- cat <&-"
    done = subprocess.run(["sh", "-c", call], capture_output=True, text=True, env=environment, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "all rows (1)" in done.stdout


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_where_nobody_reads_nothing_is_printed(build: Path, environment: dict[str, str], closed: str) -> None:
    call = f"{sys.executable} -m polder_lab list heaps --json --build {build} {closed}"
    done = subprocess.run(["sh", "-c", call], capture_output=True, text=True, env=environment, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert ("heaps" in done.stdout) == (closed == "2>&-")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_an_encoding_that_lacks_a_sign_is_no_accident(build: Path, environment: dict[str, str], encoding: str) -> None:
    call = [sys.executable, "-m", "polder_lab", "compare", "--build", str(build), "--rounds", "6", "--only", "larson/1"]
    done = subprocess.run(call, capture_output=True, encoding=encoding, env={**environment, "PYTHONIOENCODING": encoding}, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "larson" in done.stdout


def test_list_and_explain(polder: Laboratory) -> None:
    listed = json.loads(polder("list", "heaps", "--json").stdout)["heaps"]
    assert [h["name"] for h in listed][:4] == ["polder", "absent", "polder-too", "system"]
    assert "| `polder` | this project, 2024 | lock-free | The flagship. |" in polder("list", "heaps", "--markdown").stdout
    assert "polder" in polder("list", "heaps").stdout
    explained = polder("explain", "polder").stdout
    assert "The flagship." in explained
    assert "libpolder.so" in explained
    assert "options   reuse=80  (0 to 100)" in explained
