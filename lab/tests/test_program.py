from __future__ import annotations

from pathlib import Path

import pytest

from polder_lab.launch import Launcher
from polder_lab.program import PROGRAMS
from polder_lab.program.described import Program


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
        run = launcher.run(job.command, extra={**program.environment, **job.environment}, stdin=job.stdin, folder=folder)
        assert run.trouble == ""
        seen.add(run.output)
    assert len(seen) == 1
    empty = launcher.run(["true"]).output
    assert empty not in seen, "a job that prints nothing checks nothing"


def test_names_are_unique() -> None:
    assert len({p.name for p in PROGRAMS}) == len(PROGRAMS)
