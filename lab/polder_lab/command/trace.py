"""polder trace: a program's calls of malloc, recorded, described, and replayed under any heap."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from polder_lab import heap as heaps_of
from polder_lab import machine, place, trace_table
from polder_lab import trace as traces
from polder_lab.command.shared import Amount, Commands, build_option, hand_nothing_on, say, terminal, words
from polder_lab.complaint import Complaint
from polder_lab.interval import FEWEST_ROUNDS

trace_file = click.argument("file", type=click.Path(path_type=Path), metavar="FILE")


@click.group("trace", cls=Commands)
def trace() -> None:
    """A program's calls of malloc, again and again."""


@trace.command("record", context_settings={"allow_interspersed_args": False})
@click.argument("command", nargs=-1, type=click.UNPROCESSED, required=True)
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="The trace.  [default: COMMAND.trace]")
@click.option("--heap", metavar="NAME", help="Run the program on this heap meanwhile.  [default: the system's malloc]")
@click.option("--children", is_flag=True, help="Child processes too, and each program that a process was: FILE-1, FILE-2 …")
@build_option
def record(command: tuple[str, ...], output: Path | None, heap: str | None, children: bool, build: Path | None) -> None:
    """Run a command and record its calls of malloc. The exit status is the command's."""
    where = place.find(build.resolve() if build else None)
    found = shutil.which(command[0])
    if found is None:
        raise Complaint(f"cannot run {command[0]}: not found, or not executable")
    file = output or Path(f"{Path(command[0]).name}.trace")
    if file.is_dir():
        raise Complaint(f"-o: {file} is a folder")
    under = present(heap, where) if heap else None
    hand_nothing_on("the command")
    recording = traces.record(where, [found, *command[1:]], file, under, children)
    for written in recording.written:
        about = traces.describe(where, written)
        say(f"{written}: {about['program']}, {trace_table.calls_and_threads(about)}, {written.stat().st_size:,} bytes")
        if about["cut_short"]:
            say(f"{trace_table.cut_short(about)}: the rest was not recorded", "yellow")
    if recording.no_room:
        say(f"cut short: no room (a full disk?) for the recording of {recording.no_room} "
            f"program{'s' if recording.no_room > 1 else ''} that the command was or started", "yellow")
    if recording.skipped:
        say(f"{recording.skipped} other process{'es' if recording.skipped > 1 else ''} left out (--children)", "yellow")
    sys.exit(recording.status)


@trace.command("describe")
@trace_file
@click.option("--json", "as_json", is_flag=True, help="All of it, as one line of JSON.")
@build_option
def describe(file: Path, as_json: bool, build: Path | None) -> None:
    """Sizes, lives, remote frees, live bytes, calls and threads of a trace."""
    about = traces.describe(place.find(build.resolve() if build else None), file)
    if as_json:
        sys.stdout.write(json.dumps(about) + "\n")
    else:
        trace_table.describe(about, file.name, terminal())


@trace.command("replay")
@trace_file
@click.option("--heap", metavar="NAME", help="One heap alone; 'system' is the system's malloc.")
@click.option("--heaps", metavar="A,B",
              help="Against the system's malloc; names or .so paths; 'all': all that are present, no sheets.  [default: polder]")
@click.option("--rounds", type=click.IntRange(min=1), default=10, show_default=True, help="How often.")
@click.option("--repeat", type=click.IntRange(min=1, max=10**6), help="How often in one process.  [default: until it takes 0.2 s]")
@click.option("--order", type=click.Choice(["dependencies", "strict"]), default="dependencies", show_default=True,
              help="Across threads: what depends on each other in order, or every call in its turn.")
@click.option("--window", type=click.IntRange(min=1, max=10**9), default=1000, show_default=True,
              help="How many calls a thread may be ahead of the slowest.")
@click.option("--touch", type=click.Choice(["ends", "pages", "none"]), default="ends", show_default=True,
              help="What of a block is written.")
@click.option("--limit", type=Amount(min=0, min_open=True), default=600, show_default=True, metavar="SECONDS",
              help="When a replay counts as hanging.")
@click.option("--seed", type=int, help="Of the random order of heaps.  [default: by the clock]")
@click.option("--json", "as_json", is_flag=True, help="Every single replay, as JSON, instead of the table.")
@build_option
def replay(file: Path, heap: str | None, heaps: str | None, rounds: int, repeat: int | None, order: str, window: int, touch: str,
           limit: float, seed: int | None, as_json: bool, build: Path | None) -> None:
    """Make the calls of a trace again, under one heap or several, and time them."""
    hand_nothing_on("the replays")
    where = place.find(build.resolve() if build else None)
    if heap and heaps:
        raise Complaint("--heap is one heap alone, --heaps are against the system's malloc: one of the two")
    left_out: list[str] = []
    if heap:
        chosen = [present(heap, where)]
    else:
        others, left_out = heaps_of.choose(words(heaps or "polder"), where)
        chosen = [heaps_of.SYSTEM, *others]
    seed = time.time_ns() % 2**31 if seed is None else seed
    console = Console(stderr=True)
    with tempfile.TemporaryDirectory(prefix="polder-trace-") as scratch, console.status("") as status:
        replayer = traces.Replayer(where, file, ["--order", order, "--window", str(window), "--touch", touch], Path(scratch), limit)
        results = replayer.run(chosen, rounds, seed, repeat, status.update)
    if as_json:
        sys.stdout.write(json.dumps(as_record(results, file, where, seed, left_out)) + "\n")
    else:
        trace_table.replays(results, file.name, terminal())
        for line in left_out:
            say(f"left out  {line}", "yellow")
        if rounds < FEWEST_ROUNDS and len(chosen) > 1:
            say(f"no intervals, they need at least {FEWEST_ROUNDS} rounds")
    sys.exit(1 if any(result.trouble for result in results) else 0)


def present(name: str, where: place.Place) -> heaps_of.Heap:
    if name == heaps_of.SYSTEM.name:
        return heaps_of.SYSTEM
    if name == heaps_of.ALL:
        raise Complaint("--heap is one heap alone; replay takes --heaps all")
    return heaps_of.choose([name], where)[0][0]


def as_record(results: list[traces.Replays], file: Path, where: place.Place, seed: int, left_out: list[str]) -> dict[str, Any]:
    """The line of each replay, as polder-trace printed it."""
    return {"trace": file.name, "seed": seed, "machine": machine.describe(where), "left_out": left_out,
            "heaps": [{"heap": r.heap.name, "trouble": r.trouble, "replays": r.lines} for r in results]}
