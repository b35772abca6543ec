from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from polder_lab.complaint import Complaint
from polder_lab.heap import SYSTEM, Heap
from polder_lab.instrument import Memory
from polder_lab.launch import Launcher, Run
from polder_lab.place import Place
from polder_lab.program import PROGRAMS
from polder_lab.program.described import Program, handed_on
from polder_lab.program.prepared import SCRIPTS
from polder_lab.proof import witness
from polder_lab.row import Row, Wanted, program_row, select


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_a_job_is_the_same_every_time(program: Program, launcher: Launcher, tmp_path: Path) -> None:
    executable = program.executable()
    if executable is None:
        pytest.skip(f"{program.executables[0]} is not installed")
    seen = set()
    for time in ("first", "second"):
        folder = tmp_path / time
        folder.mkdir()
        job = program.prepare(executable, folder, 0.05)
        # Each time in the same folder's name, since a command line may be part of the output.
        run = launcher.run(job.command, extra={**program.environment, **job.environment}, stdin=job.stdin, folder=folder,
                           result_line=program.clocks_itself)
        assert run.trouble == ""
        seen.add(run.output)
    assert len(seen) == 1
    empty = launcher.run(["true"]).output
    assert empty not in seen, "a job that prints nothing checks nothing"


def run_of(name: str, launcher: Launcher, folder: Path, heap: Heap) -> tuple[Run, str]:
    program = next(p for p in PROGRAMS if p.name == name)
    executable = program.executable()
    if executable is None:
        pytest.skip(f"{program.executables[0]} is not installed")
    row = program_row(program, executable, folder, 0.05)
    with witness(launcher.scratch / "witness") as seen:
        run = launcher.run(row.command, extra=row.environment({**heap.environment, **seen.extra}), stdin=row.stdin, folder=row.folder,
                           result_line=row.tells)
        return run, seen.objection(heap, run.pid)


SERVERS = {"redis": "redis", "memcached": "memcached", "postgresql": "postgres", "rocksdb": "db_bench"}


@pytest.mark.parametrize("name", SERVERS)
def test_the_server_has_the_heap_that_is_named(name: str, launcher: Launcher, tmp_path: Path, compiled: Callable[[str], Path]) -> None:
    for heap in (SYSTEM, Heap("fake", "file", library=compiled(""))):
        run, objection = run_of(name, launcher, tmp_path / heap.name, heap)
        assert (run.trouble, objection) == ("", "")
        assert 0 < run.seconds < run.wall
        assert run.peak_rss < 1 << 30


@pytest.mark.parametrize("name", SERVERS)
def test_its_clients_do_not(name: str, launcher: Launcher, tmp_path: Path, compiled: Callable[[str], Path]) -> None:
    """The job's own interpreter is the client of redis and memcached."""
    log = tmp_path / "log"
    heap = Heap("fake", "file", library=compiled("TELLS"), settings=(("TELL_TO", str(log)),))
    run, objection = run_of(name, launcher, tmp_path / name, heap)
    assert (run.trouble, objection) == ("", "")
    started = {Path(line).name for line in log.read_text().splitlines()}
    assert any(program.startswith(SERVERS[name]) for program in started)
    assert not {program for program in started if program.startswith(("python", "psql", "pgbench", "redis-benchmark"))}


@pytest.mark.parametrize("name", SERVERS)
def test_the_server_is_among_what_may_not_change(name: str, tmp_path: Path) -> None:
    program = next(p for p in PROGRAMS if p.name == name)
    executable = program.executable()
    if executable is None:
        pytest.skip(f"{program.executables[0]} is not installed")
    assert Path(executable) in program_row(program, executable, tmp_path / name, 0.05).files


def test_a_server_that_the_heap_breaks_is_a_trouble(launcher: Launcher, tmp_path: Path, compiled: Callable[[str], Path]) -> None:
    run, _ = run_of("redis", launcher, tmp_path / "redis", Heap("fake", "file", library=compiled("CRASHES")))
    assert "redis-server ended at once" in run.trouble or "redis-server is lost" in run.trouble


CLOCKED = """import os, sys
sys.path.insert(0, {folder!r})
from clocked import Failed, client, tell
def job(clocked):
    if "LD_PRELOAD" in os.environ: raise Failed("the job has the heap")
    if b"LD_PRELOAD" in client("/usr/bin/env"): raise Failed("the client has the heap")
    if b"LD_PRELOAD" not in clocked.run(["/usr/bin/env"]): raise Failed("the program has no heap")
    client({python!r}, "-S", "-c", "bytearray(300 << 20)")
    clocked.see(b"something")
tell(job)
"""


def test_only_the_program_has_the_heap_and_the_peak(launcher: Launcher, tmp_path: Path, compiled: Callable[[str], Path]) -> None:
    folder, script, python = tmp_path / "job", tmp_path / "job.py", str(Path(sys.executable).resolve())
    folder.mkdir()
    script.write_text(CLOCKED.format(folder=str(SCRIPTS), python=python))
    run = launcher.run([python, "-S", "-s", str(script)], extra=handed_on({"LD_PRELOAD": str(compiled(""))}), folder=folder,
                       result_line=True)
    assert run.trouble == ""
    assert run.peak_rss < 200 << 20
    assert run.output != ""


LARGE = """import sys
sys.path.insert(0, {folder!r})
from clocked import client, tell
def job(clocked):
    mine = bytearray(150 << 20)
    client({python!r}, "-S", "-c", "import time; b = bytearray(200 << 20); time.sleep(0.2)")
    clocked.run(["/bin/sh", "-c", {python!r} + " -S -c 'import time; b = bytearray(60 << 20); time.sleep(0.8)'; true"])
tell(job)
"""


def test_memory_over_time_is_the_program_s(launcher: Launcher, tmp_path: Path) -> None:
    """Not that of the job, nor of a client; but of what the program starts."""
    folder, script, python = tmp_path / "job", tmp_path / "job.py", str(Path(sys.executable).resolve())
    folder.mkdir()
    script.write_text(LARGE.format(folder=str(SCRIPTS), python=python))
    row = Row("job", "program", (python, "-S", "-s", str(script)), folder=folder, clocks_itself=True)
    run = Memory().run(launcher, row, {}, 60)
    assert run.trouble == ""
    assert 60 << 20 < max(run.samples["rss"]) < 100 << 20


def test_compare_takes_its_own_set(build: Path, tmp_path: Path) -> None:
    place = Place(tmp_path, build)
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    compared = {row.name for row in select(place, Wanted((), [1], 0.05, of="compare"), tmp_path / "a").rows}
    assert not compared & {p.name for p in PROGRAMS if "compare" not in p.sets}
    named = next(p for p in PROGRAMS if "compare" not in p.sets and p.executable())
    assert [row.name for row in select(place, Wanted([named.name], [1], 0.05, of="compare"), tmp_path / "b").rows] == [named.name]


def test_a_row_knows_that_its_job_clocks_itself(build: Path, tmp_path: Path) -> None:
    rows = [row for row in select(Place(tmp_path, build), Wanted((), [1], 0.05), tmp_path).rows if row.kind == "program"]
    assert {row.name: row.tells for row in rows} == {p.name: p.clocks_itself for p in PROGRAMS if p.executable()}


@pytest.mark.parametrize(("git", "said"), [("echo first; echo 'fatal: no room' >&2; exit 128", "fatal: no room"),
                                           ("exit 3", "git ends with 3")])
def test_what_cannot_be_prepared_is_left_out(git: str, said: str, build: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "git").write_text(f"#!/bin/sh\n{git}\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    place, line = Place(tmp_path, build), f"git: its inputs cannot be made: {said}"
    selection = select(place, Wanted(["git", "python"], [1], 0.05), tmp_path / "a")
    assert "python" in [row.name for row in selection.rows]
    assert "git" not in [row.name for row in selection.rows]
    assert selection.left_out == [line]
    with pytest.raises(Complaint, match=line):
        select(place, Wanted(["git"], [1], 0.05), tmp_path / "b")


def test_names_are_unique() -> None:
    assert len({p.name for p in PROGRAMS}) == len(PROGRAMS)
