"""polder trace, with a recorder and a polder-trace that are fakes; with the real ones: test/trace/command_test.py."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import FAKE, Laboratory
from test_launch import running, until

from polder_lab import trace as traces
from polder_lab import trace_table
from polder_lab.heap import Heap
from polder_lab.place import Place

Trace = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def trace(build: Path, tmp_path: Path, laboratory: Laboratory) -> Trace:
    program = build / "bin" / "polder-trace"
    program.write_text((FAKE / "polder-trace").read_text().replace("/usr/bin/env python3", str(Path(sys.executable).resolve())))
    program.chmod(0o755)
    library = build / "lib" / "libpolder-trace.so"
    if not library.exists():
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, FAKE / "recorder.c"], check=True, timeout=60)
    (tmp_path / "a.trace").write_text("trace of sort")

    def call(command: str, *words: str, **extra: str) -> subprocess.CompletedProcess[str]:
        return laboratory("trace", command, "--build", str(build), *words, extra=extra)

    return call


def test_record_makes_one_trace_of_the_command_and_passes_its_status_on(trace: Trace, tmp_path: Path) -> None:
    done = trace("record", "-o", "b.trace", "--", "sh", "-c", "echo out; sh -c :; exit 7")
    assert done.returncode == 7
    assert done.stdout == "out\n"
    assert (tmp_path / "b.trace").read_text() == "trace of sh\n"
    assert "b.trace: sh, 19 calls by 2 threads" in done.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.trace", "b.trace"]


def test_record_names_the_trace_after_the_command_and_says_what_it_left_out(trace: Trace, tmp_path: Path) -> None:
    done = trace("record", "sh", "-c", "perl -e 1; perl -e 1; exit 0")
    assert done.returncode == 0
    assert (tmp_path / "sh.trace").exists()
    assert "2 other processes left out (--children)" in done.stderr


def test_record_of_children_and_of_a_program_that_becomes_another(trace: Trace, tmp_path: Path) -> None:
    done = trace("record", "--children", "-o", "c.trace", "--", "env", "X=1", "sh", "-c", "perl -e 1; exit 0")
    assert done.returncode == 0
    assert (tmp_path / "c.trace").read_text() == "trace of sh\n", "env is only the way there"
    assert {(tmp_path / f"c-{n}.trace").read_text() for n in (1, 2)} == {"trace of env\n", "trace of perl\n"}


def test_a_child_s_trace_overwrites_none(trace: Trace, tmp_path: Path) -> None:
    (tmp_path / "c-2.trace").write_text("trace of another")
    done = trace("record", "--children", "-o", "c.trace", "--", "sh", "-c", "perl -e 1; exit 0")
    assert done.returncode == 2
    assert done.stderr.startswith("polder: c-2.trace is there already")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.trace", "c-2.trace"]
    (tmp_path / "c-2.trace").rename(tmp_path / "c-2-kept.trace")
    assert trace("record", "--children", "-o", "c.trace", "--", "true").returncode == 0


def test_what_is_preloaded_by_hand_is_said_to_be_left_out(trace: Trace) -> None:
    library = {"LD_PRELOAD": "libnothing.so"}
    assert "not handed on to the command: LD_PRELOAD\n" in trace("record", "-o", "b.trace", "--", "true", **library).stderr
    assert "not handed on to the replays: LD_PRELOAD\n" in trace("replay", "a.trace", "--rounds", "1", **library).stderr


def test_a_folder_with_a_space_in_its_name_is_told(trace: Trace, compiled: Callable[[str], Path], tmp_path: Path) -> None:
    library = tmp_path / "my heap" / "libmine.so"
    library.parent.mkdir()
    library.symlink_to(compiled(""))
    done = trace("replay", "a.trace", "--rounds", "1", "--heaps", f"{library.parent}/./libmine.so")
    assert done.returncode == 0, "the library itself lies where there is no space"
    library.unlink()
    library.write_bytes(compiled("").read_bytes())
    done = trace("replay", "a.trace", "--rounds", "1", "--heaps", str(library))
    assert done.returncode == 1
    assert "not served: LD_PRELOAD cannot carry a path with a space or a colon" in " ".join(done.stdout.split())
    done = trace("record", "-o", "b.trace", "--heap", str(library), "--", "true")
    assert (done.returncode, done.stderr) == (2, f"polder: LD_PRELOAD cannot carry a path with a space or a colon: {library}\n")


@pytest.mark.usefixtures("trace")
def test_a_heap_is_recorded_with_its_settings(build: Path, compiled: Callable[[str], Path], tmp_path: Path) -> None:
    tuned = Heap("tuned", "peer", library=compiled(""), settings=(("TUNED", "1"),))
    recording = traces.record(Place(tmp_path, build), ["sh", "-c", 'test "$TUNED" = 1'], tmp_path / "b.trace", tuned, False)
    assert recording.status == 0


@pytest.mark.usefixtures("trace")
def test_a_heap_is_replayed_with_its_settings(build: Path, compiled: Callable[[str], Path], tmp_path: Path) -> None:
    log = tmp_path / "log"
    tuned = Heap("tuned", "peer", library=compiled(""), settings=(("FAKE_LOG", str(log)),))
    line, trouble = traces.Replayer(Place(tmp_path, build), tmp_path / "a.trace", [], tmp_path, 60).once(tuned, 3)
    assert (line["ok"], trouble) == (True, "")
    assert log.exists()
    assert log.read_text() == f"{compiled('').name} 3\n"


def test_a_command_that_is_killed_leaves_its_trace(trace: Trace, tmp_path: Path) -> None:
    assert trace("record", "-o", "k.trace", "--", "sh", "-c", "kill -9 $$").returncode == 128 + 9
    assert (tmp_path / "k.trace").exists()


def test_sigterm_is_the_command_s_and_leaves_its_trace(trace: Trace, build: Path, environment: dict[str, str], tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    call = [sys.executable, "-m", "polder_lab", "trace", "record", "--build", str(build), "-o", "t.trace", "--", "sh", "-c",
            f"touch {begun}; exec sleep 878.2"]
    with subprocess.Popen(call, env=environment, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as recording:
        until(lambda: begun.exists() or recording.poll() is not None)
        recording.terminate()
        _, errors = recording.communicate(timeout=60)
    assert recording.returncode == 128 + signal.SIGTERM, errors
    assert running("878.2") == []
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.trace", "begun", "t.trace"]


def test_an_interrupted_replay_leaves_no_folder(trace: Trace, build: Path, environment: dict[str, str], tmp_path: Path) -> None:
    log, scratch = tmp_path / "log", tmp_path / "scratch"
    scratch.mkdir()
    call = [sys.executable, "-m", "polder_lab", "trace", "replay", "--build", str(build), "a.trace"]
    extra = {**environment, "FAKE_HANGS": "1", "FAKE_LOG": str(log), "TMPDIR": str(scratch)}
    with subprocess.Popen(call, env=extra, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as replaying:
        until(lambda: "libpolder.so 20" in (log.read_text() if log.exists() else "") or replaying.poll() is not None)
        replaying.terminate()
        _, errors = replaying.communicate(timeout=60)
    assert (replaying.returncode, errors) == (130, "polder: interrupted\n")
    assert os.listdir(scratch) == []


def test_describe(trace: Trace) -> None:
    done = trace("describe", "a.trace")
    assert done.returncode == 0, done.stderr
    for words in ("sort, 19 calls by 2 threads", "2 of 8, 25.0%", "16 B – 32 B", "24", "7 calls about blocks", "1.02 µs – 2.05 µs"):
        assert words in done.stdout
    assert json.loads(trace("describe", "a.trace", "--json").stdout)["threads"] == 2


def test_replay_interleaves_and_repeats_short_traces(trace: Trace, tmp_path: Path) -> None:
    log = tmp_path / "log"
    done = trace("replay", "a.trace", "--rounds", "6", "--seed", "3", FAKE_LOG=str(log))
    assert done.returncode == 0, done.stderr
    assert "0.50 – 0.50" in done.stdout
    assert "faster" in done.stdout
    lines = log.read_text().splitlines()
    assert lines[:2] == ["system 1", "libpolder.so 1"], "first the proof"
    rounds = [tuple(lines[n:n + 2]) for n in range(2, len(lines), 2)]
    assert len(rounds) == 6
    assert set(rounds) == {("system 20", "libpolder.so 20"), ("libpolder.so 20", "system 20")}, "20 times 10 ms"


def test_the_peak_is_what_came_above_the_process_itself(trace: Trace) -> None:
    lines = [line.split() for line in trace("replay", "a.trace", "--rounds", "1").stdout.splitlines()]
    assert [line[-1] for line in lines if line[:1] == ["system"]] == ["2.0"]
    assert [line[-2:] for line in lines if line[:1] == ["polder"]] == [["3.0", "1.50"]]
    done = trace("replay", "a.trace", "--rounds", "1", FAKE_CANNOT_FORGET="1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split().count("unknown") == 2


def test_percentiles_are_medians_over_the_rounds(trace: Trace, tmp_path: Path) -> None:
    log = tmp_path / "log"
    done = trace("replay", "a.trace", "--heap", "polder", "--rounds", "3", "--repeat", "1", FAKE_LOG=str(log), FAKE_SLOWS_DOWN="1")
    assert done.returncode == 0, done.stderr
    cells = next(line.split() for line in done.stdout.splitlines() if line.startswith("polder"))
    assert cells[cells.index("130"):][:4] == ["130", "ns", "140", "ns"], "of 120, 130 and 140, after a proof"


@pytest.mark.parametrize(("calls", "p99", "p999"), [("99", "–", "–"), ("999", "30 ns", "–"), ("1000", "30 ns", "40 ns")])
def test_a_percentile_takes_so_many_calls_that_one_is_beyond_it(trace: Trace, calls: str, p99: str, p999: str) -> None:
    done = trace("replay", "a.trace", "--heap", "polder", "--rounds", "1", FAKE_TIMED=calls)
    assert done.returncode == 0, done.stderr
    line = next(line for line in done.stdout.splitlines() if line.startswith("polder"))
    assert f" 20 ns {p99} {p999} " in " ".join(line.split())


def test_replay_under_one_heap_as_json(trace: Trace) -> None:
    told = json.loads(trace("replay", "a.trace", "--heap", "polder", "--rounds", "2", "--repeat", "3", "--json").stdout)
    assert [heap["heap"] for heap in told["heaps"]] == ["polder"]
    assert [line["operations"] for line in told["heaps"][0]["replays"]] == [15, 15]
    assert told["machine"]["kernel"]


@pytest.mark.parametrize(("habit", "story"), [
    ("FAKE_FAILS", "fails: a block was overwritten while in use, at event 7"),
    ("FAKE_HANGS", "hangs: ended after 5 s"),
    ("FAKE_MISCOUNTS", "does another number of calls"),
])
def test_a_heap_that_fails_is_told(trace: Trace, habit: str, story: str) -> None:
    done = trace("replay", "a.trace", "--rounds", "1", "--limit", "5", **{habit: "1"})
    assert done.returncode == 1
    assert f"FAILED under polder {story}" in " ".join(done.stdout.split())


def test_a_library_without_malloc_is_told(trace: Trace, compiled: Callable[[str], Path]) -> None:
    done = trace("replay", "a.trace", "--rounds", "1", "--heaps", str(compiled("NO_MALLOC")))
    assert done.returncode == 1
    assert "not served: malloc is that of" in " ".join(done.stdout.split())


@pytest.mark.parametrize(("words", "message"), [
    (("replay", "a.trace", "--heap", "all"), "--heap is one heap alone; replay takes --heaps all"),
    (("record", "--heap", "all", "--", "true"), "--heap is one heap alone"),
    (("record", "--", "nonesuch-program"), "cannot run nonesuch-program"),
    (("record", "-o", "/nowhere/x.trace", "--", "true"), "cannot write /nowhere/x.trace"),
    (("record", "-o", ".", "--", "true"), "is a folder"),
    (("record", "--heap", "poldr", "--", "true"), "nearest: polder"),
    (("record",), "Missing argument"),
    (("describe", "nothing.trace"), "nothing.trace: cannot be read: No such file"),
    (("describe", "/etc/hostname"), "not a trace of Polder's"),
    (("replay", "/etc/hostname"), "not a trace of Polder's"),
    (("replay", "a.trace", "--heaps", "poldr"), "nearest: polder"),
    (("replay", "a.trace", "--heap", "polder", "--heaps", "polder"), "one of the two"),
    (("replay", "a.trace", "--order", "strct"), "dependencies"),
    (("replya", "a.trace"), "there is no command 'replya'; nearest: replay"),
])
def test_wrong_use(trace: Trace, words: tuple[str, ...], message: str) -> None:
    done = trace(*words)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_names_need_not_be_utf_8(trace: Trace, tmp_path: Path) -> None:
    odd = Path(os.fsdecode(b"q\xff.trace"))
    (tmp_path / odd).write_bytes(b"trace of l\xff")
    for words in (("describe", str(odd)), ("replay", str(odd), "--rounds", "1")):
        done = trace(*words)
        assert (done.returncode, "l\N{REPLACEMENT CHARACTER}" in done.stdout) == (0, True), done.stderr
    done = trace("describe", os.fsdecode(b"no\xff"))
    assert done.returncode == 2
    assert "cannot be read" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_empty_trace_is_not_replayed(trace: Trace, tmp_path: Path) -> None:
    (tmp_path / "none.trace").write_text("trace of none")
    done = trace("replay", "none.trace", FAKE_HAS_NO_CALLS="1")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "polder: none.trace: holds no calls that can be made again\n"


def test_a_polder_trace_that_dies_is_told(trace: Trace, tmp_path: Path) -> None:
    done = trace("describe", "a.trace", FAKE_DIES="describe")
    assert (done.returncode, done.stderr) == (2, "polder: a.trace: polder-trace describe ends with SIGABRT\n")
    done = trace("record", "-o", "b.trace", "--", "true", FAKE_DIES="pack")
    assert done.returncode == 2
    assert "polder-trace pack ends with SIGABRT" in done.stderr
    assert (tmp_path / "b.trace.recording").is_dir()


def test_nothing_recorded_is_said(trace: Trace, tmp_path: Path) -> None:
    done = trace("record", "-o", "n.trace", "--", "true", FAKE_RECORDS_NOTHING="1")
    assert done.returncode == 2
    assert "nothing was recorded" in done.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.trace"]


def test_a_program_for_whose_recording_there_is_no_room_is_told(trace: Trace, tmp_path: Path) -> None:
    done = trace("record", "-o", "n.trace", "--", "env", "X=1", "sh", "-c", "exit 3", FAKE_NO_ROOM="sh")
    assert done.returncode == 3, done.stderr
    assert (tmp_path / "n.trace").read_text() == "trace of env\n"
    assert "cut short: no room (a full disk?) for the recording of 1 program that" in done.stderr
    done = trace("record", "-o", "m.trace", "--", "sh", "-c", "exit 3", FAKE_NO_ROOM="sh")
    assert (done.returncode, done.stderr) == (2, "polder: nothing was recorded: there was no room for it (a full disk, or ulimit -f)\n")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.trace", "n.trace"]


def test_why_a_trace_is_cut_short() -> None:
    assert "a full disk?" in trace_table.cut_short({"threads": 3})
    assert "65,536 threads" in trace_table.cut_short({"threads": 65536})


def test_a_folder_that_the_recorder_cannot_name_is_told(trace: Trace, tmp_path: Path) -> None:
    deep = Path(*["d" * 100] * 5)
    (tmp_path / deep).mkdir(parents=True)
    done = trace("record", "-o", str(deep / "n.trace"), "--", "true")
    assert done.returncode == 2
    assert "-o: the path is too long for the recorder" in done.stderr
    assert not list((tmp_path / deep).iterdir())
    source = (Path(__file__).resolve().parents[2] / "bench" / "trace" / "recorder.hpp").read_text()
    assert f"char folder_[{traces.LONGEST_FOLDER + 1}]" in source
