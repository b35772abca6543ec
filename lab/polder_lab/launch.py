"""One run of one command: what it cost, what it printed, whether it went well. The measuring itself is launch.c, and
memory over time memory_sampler.h."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from polder_lab.complaint import Complaint

SOURCE = Path(__file__).with_name("launch.c")
SAMPLER = Path(__file__).with_name("memory_sampler.h")

# Never inherited by a measured command: they would change the heap of both sides, or of one. So do what allocators are set up by,
# MALLOC_ARENA_MAX, MIMALLOC_PURGE_DELAY or TBB_MALLOC_USE_HUGE_PAGES. POLDER_OPTIONS is handed on, and told with the results.
NOT_INHERITED = re.compile(r"LD_PRELOAD|LD_DEBUG|LD_DEBUG_OUTPUT|GLIBC_TUNABLES|[A-Z_]*MALLOC_\w+")

NOT_KEPT = ("pid", "own", "began", "told", "samples", "yields")  # fields of a run that the file of compare does not hold


PATIENCE = 10  # seconds that a child has to end when it is asked to


def inherited() -> dict[str, str]:
    """Of our environment what a measured command has, too."""
    return {name: value for name, value in os.environ.items() if not NOT_INHERITED.fullmatch(name)}


@dataclass(frozen=True)
class Run:
    """seconds is the time compared: the wall time of the command, or what a workload clocked of itself. told is the
    line of a workload; samples is memory over time, where it was asked for; yields is what an instrument makes of them."""

    seconds: float
    wall: float
    user: float
    system: float
    peak_rss: int  # bytes, of the largest single process
    minor_faults: int
    major_faults: int
    output: str  # a digest of standard output; "" where another check stands in for it
    operations: int | None = None
    trouble: str = ""
    pid: int = 0  # of the command, or of the program that a job started and says was measured
    own: float = 0  # processor seconds of the launcher
    began: float = 0  # on CLOCK_MONOTONIC
    told: Mapping[str, Any] = field(default_factory=dict)
    samples: Mapping[str, Any] = field(default_factory=dict)
    yields: Mapping[str, Any] = field(default_factory=dict)

    @property
    def faults(self) -> int:
        return self.minor_faults + self.major_faults

    def as_json(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if name not in NOT_KEPT}


def build_launcher(folder: Path) -> Path:
    """Compiles launch.c, once for each text of it."""
    digest = hashlib.sha256(SOURCE.read_bytes() + SAMPLER.read_bytes()).hexdigest()[:12]
    program = folder / f"launch-{digest}"
    if program.exists():
        return program
    compiler = next((c for c in ("cc", "gcc", "clang") if shutil.which(c)), None)
    if compiler is None:
        raise Complaint("no C compiler to build the launcher with (apt-get install gcc)")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        made = Path(scratch, "launch")
        done = subprocess.run([compiler, "-O2", "-o", made, SOURCE], capture_output=True, text=True, timeout=60)
        if done.returncode != 0:
            raise Complaint(f"the launcher does not compile:\n{done.stderr}")
        made.rename(program)
    return program


class Launcher:
    def __init__(self, program: Path, scratch: Path) -> None:
        self.program = program
        self.scratch = scratch
        self.environment = inherited()

    def run(self, command: Sequence[str], *, extra: Mapping[str, str] | None = None, limit: float = 60,
            stdin: str = "/dev/null", folder: Path | None = None, result_line: bool = False, sample: float = 0,
            starts_what_counts: bool = False) -> Run:
        """extra is put into the environment of the command alone. result_line: the command is a workload, which
        prints its result as one JSON line and checks itself, or a job that tells its own time (job/clocked.py). sample:
        memory is looked at every so many seconds; starts_what_counts: not that of the command and of whatever stays in its
        process group."""
        output, errors, samples = self.scratch / "output", self.scratch / "errors", self.scratch / "samples"
        call = [str(self.program), "--limit", str(limit), "--input", stdin, "--output", str(output), "--errors", str(errors)]
        for name, value in (extra or {}).items():
            call += ["--set", f"{name}={value}"]
        if sample:
            call += ["--sample", str(sample * 1000), "--samples", str(samples), "--of", "started" if starts_what_counts else "tree"]
        done = ended_by_itself([*call, "--", *command], self.environment, folder)
        if done.returncode != 0:
            raise Complaint(done.stderr.strip().removeprefix("launch: ") or f"cannot run {command[0]}")
        told = json.loads(done.stdout)
        run = Run(seconds=told["wall"], wall=told["wall"], user=told["user"], system=told["system"], peak_rss=told["peak_rss"],
                  minor_faults=told["minor_faults"], major_faults=told["major_faults"], output="",
                  trouble=trouble(told, limit, last_words(errors)), pid=told["pid"], own=told["own"], began=told["began"],
                  samples=read_samples(samples, sample) if sample else {})
        try:
            return with_result(run, output) if result_line else replace(run, output=digest(output))
        finally:
            for file in (output, errors, samples):
                file.unlink(missing_ok=True)


def ended_by_itself(call: Sequence[str], environment: Mapping[str, str], folder: Path | None) -> subprocess.CompletedProcess[str]:
    """The launcher's call, with its text. subprocess.run would kill it at an interruption, and what it runs would go on without
    a time limit: it is asked to end, and ends what it runs."""
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, cwd=folder) as launcher:
        try:
            output, errors = launcher.communicate()
        except BaseException:
            launcher.terminate()
            try:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    launcher.wait(PATIENCE)
            finally:  # also where somebody is more impatient
                launcher.kill()
            raise
    return subprocess.CompletedProcess(call, launcher.returncode, output, errors)


def end_what_runs(patience: float = PATIENCE) -> None:
    """Ends every child of this process. One that an interruption met while it was being started is unknown to subprocess,
    and would go on writing."""
    deadline = time.monotonic() + patience
    for listed in Path("/proc/self/task").glob("*/children"):
        for pid in map(int, listed.read_text().split()):
            with contextlib.suppress(ProcessLookupError, ChildProcessError):  # it ended meanwhile
                os.kill(pid, signal.SIGTERM)
                while os.waitpid(pid, os.WNOHANG) == (0, 0):
                    if time.monotonic() > deadline:
                        os.kill(pid, signal.SIGKILL)
                    time.sleep(0.01)


def read_samples(file: Path, interval: float) -> dict[str, Any]:
    told: dict[str, Any] = {"interval": interval, "rss": [], "pss": [], "page_tables": []}
    for line in file.read_text().splitlines():
        kind, *numbers = line.split()
        told[kind].append(int(numbers[0]) if kind == "rss" else [float(numbers[0]), int(numbers[1])])
    return told


def trouble(told: Mapping[str, Any], limit: float, words: str) -> str:
    said = f": {words}" if words else ""
    if told["hung"]:
        return f"hangs: ended after {limit:g} s"
    if told["signal"]:
        return f"crashes: {signal_name(told['signal'])}{said}"
    if told["exit"] != 0:
        return f"fails: exit status {told['exit']}{said}"
    return ""


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def last_words(errors: Path) -> str:
    """The last line on standard error that says something."""
    with errors.open("rb") as file:
        file.seek(max(0, errors.stat().st_size - 4096))
        lines = [line.strip() for line in file.read().decode(errors="replace").splitlines()]
    return next((line[:200] for line in reversed(lines) if line), "")


def digest(output: Path) -> str:
    with output.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def with_result(run: Run, output: Path) -> Run:
    lines = [line for line in output.read_text(errors="replace").splitlines() if line.strip()]
    try:
        result = json.loads(lines[-1])
        if run.trouble or not result.get("ok", True):
            return replace(run, trouble=joined(run.trouble, result.get("why") or "") or "the workload reports a failure")
        return replace(run, seconds=float(result["seconds"]), operations=result.get("operations"),
                       peak_rss=int(result["peak_rss_kb"]) * 1024, output=result.get("digest", ""),
                       pid=int(result.get("pid", run.pid)), told=result)
    except (IndexError, ValueError, KeyError, TypeError, AttributeError):
        return replace(run, trouble=run.trouble or "the workload printed no result")


def joined(trouble: str, why: str) -> str:
    """why is the workload's own word; it adds nothing where it only names the signal."""
    return f"{trouble} ({why})" if trouble and why and not why.startswith("signal ") else trouble or why
