"""polder mistakes: what a program may not do with its heap, and which heaps notice."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
import time
from collections import Counter as Tally
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from polder_lab import heap as heaps_of
from polder_lab import machine, place
from polder_lab.command.shared import brief, build_option, hand_nothing_on, must_be_writable, must_have_polder, say, tell, terminal, words
from polder_lab.complaint import Complaint
from polder_lab.conform.run import Runner
from polder_lab.heap import SYSTEM, Heap
from polder_lab.launch import Launcher, build_launcher
from polder_lab.mistakes import catalogue, matrix
from polder_lab.mistakes.count import MOST_HUNG, Count, Counter
from polder_lab.mistakes.matrix import Matrix
from polder_lab.mistakes.recorded import Recorded, read
from polder_lab.progress import Bar

AT_ONCE = 50  # runs that one process counts


@click.command()
@click.option("--heap", "names", multiple=True, metavar="A,B",
              help="Registered heaps, peers, system; polder-hardened, and polder+hardened for the option.  [default: polder]")
@click.option("--lib", "libraries", multiple=True, metavar="FILE", help="Any malloc library.")
@click.option("--all", "everything", is_flag=True,
              help="The system's malloc, Polder in all its modes, every peer, every secure build of one.")
@click.option("--only", multiple=True, metavar="MISTAKE", help="Mistakes by name, pattern (* ?) or group.")
@click.option("--runs", type=click.IntRange(min=1), default=25, show_default=True, help="How often each is made, with as many seeds.")
@click.option("--jobs", type=click.IntRange(min=1), default=os.cpu_count() or 1, help="Processes at a time.  [default: one a processor]")
@click.option("--list", "listed", is_flag=True, help="The mistakes, and what each does where it succeeds.")
@click.option("--json", "json_file", type=click.Path(path_type=Path, allow_dash=True), metavar="FILE",
              help="Write every count to this file; - is standard output, instead of the matrix.")
@click.option("--from", "files", multiple=True, type=click.Path(path_type=Path), metavar="FILE",
              help="Columns that --json wrote earlier, of heaps that are not asked for now.")
@click.option("--markdown", is_flag=True, help="Print the matrix in Markdown.")
@build_option
def mistakes(names: tuple[str, ...], libraries: tuple[str, ...], everything: bool, only: tuple[str, ...], runs: int, jobs: int,
             listed: bool, json_file: Path | None, files: tuple[Path, ...], markdown: bool, build: Path | None) -> None:
    """Make mistakes under any malloc, each many times, and print which of them it notices.

    Exit status 1 when a heap notices something where there was no mistake. --all without Polder is refused.
    """
    hand_nothing_on("the programs")
    where = place.find(build.resolve() if build else None)
    must_be_writable(json_file)
    chosen = catalogue.read(where.mistakes).chosen([word for text in only for word in words(text)])
    if listed:
        show_list(chosen)
        return
    asked = [found(name, where) for text in names for name in words(text)]
    asked += [heaps_of.find(str(Path(file).expanduser().resolve()), where) for file in libraries]
    if not asked and not everything and not files:
        asked = [heaps_of.find("polder", where)]
    recorded = [read(file) for file in files]
    table = Matrix(chosen, [])
    with tempfile.TemporaryDirectory(prefix="polder-mistakes-") as scratch:
        runner = Runner(where.mistakes, Launcher(build_launcher(where.own), Path(scratch)))
        table.heaps = served(asked, everything, where, runner, table.left_out)
        if everything:
            must_have_polder([*table.heaps, *(heap for one in recorded for heap in one.heaps)], table.left_out)
    interrupted = make(table, Counter(where.mistakes), runs, jobs)
    about = machine.describe(where) if table.heaps or not recorded else recorded[0].machine
    for one in recorded:
        add(one, table, about)
    table.in_order()

    def show() -> None:
        if markdown:
            sys.stdout.write(matrix.markdown(table, brief(about)))
        else:
            matrix.show(table, terminal())

    tell(json.dumps(table.as_json(about), indent=1), json_file, show)
    sys.exit(130 if interrupted else 1 if table.false_alarms() else 0)


def modes(where: place.Place) -> list[Heap]:
    """The flagship as it comes, with the option, and as the library that has it on."""
    plain = next((heap for heap in heaps_of.registered(where) if heap.name == "polder"), None)
    if plain is None:
        return []
    library = where.libraries / "variant" / "libpolder-hardened.so"
    option, built = "POLDER_OPTIONS: hardened=1", "libpolder-hardened.so: that, and encoded lists"
    return [plain, replace(plain, name="polder+hardened", settings=(("POLDER_OPTIONS", "hardened=1"),), secure=option),
            replace(plain, name="polder-hardened", library=library, secure=built)]


def found(name: str, where: place.Place) -> Heap:
    return next((heap for heap in modes(where) if heap.name == name), None) or heaps_of.find(name, where)


def served(asked: list[Heap], everything: bool, where: place.Place, runner: Runner, left_out: list[str]) -> list[Heap]:
    """The heaps whose malloc the programs really run on. One that was asked for by name and does not is a mistake."""
    chosen: dict[str, Heap] = {}
    for heap in asked:
        if not heap.present:
            raise Complaint(f"{heap.name}: {heap.library or 'its library'} is not there")
        if why := runner.objection(heap):
            raise Complaint(f"{heap.name}: {why}")
        if heap.name in chosen and chosen[heap.name] != heap:
            raise Complaint("two of these libraries have the same name; ask them one after the other")
        chosen[heap.name] = heap
    if everything:
        peers = heaps_of.peers(made=where.peers)
        for heap in [SYSTEM, *modes(where), *(p for p in peers if p.secure), *(p for p in peers if not p.secure)]:
            if heap.name in chosen:
                continue
            if not heap.present:
                left_out.append(f"{heap.name}: not there")
            elif why := runner.objection(heap):
                left_out.append(f"{heap.name}: {why}")
            else:
                chosen[heap.name] = heap
    return list(chosen.values())


def add(recorded: Recorded, table: Matrix, about: dict[str, Any]) -> None:
    """Its columns, where the table has none of that name. Mistakes that some column lacks are left out."""
    if any(recorded.machine.get(what) != about.get(what) for what in ("cpu", "cores", "kernel", "libc")):
        say("some columns were measured on another machine than this one", "yellow")
    new = [heap for heap in recorded.heaps if heap.name not in {h.name for h in table.heaps}]
    table.heaps += new
    table.counts |= {key: count for key, count in recorded.counts.items() if key[1] in {heap.name for heap in new}}
    table.keep({m.name for m in table.catalogue.mistakes if all((m.name, heap.name) in table.counts for heap in table.heaps)})


def make(table: Matrix, counter: Counter, runs: int, jobs: int) -> bool:
    """A few runs of a mistake under every heap, then the next few, so that a noisy minute meets all of them. True if it was
    interrupted: then the mistakes that were not made often enough under every heap are left out."""
    portions = [(m.name, heap, first, min(AT_ONCE, runs - first)) for m in table.catalogue.mistakes
                for first in range(0, runs, AT_ONCE) for heap in table.heaps]
    if not portions:
        return False
    missing = Tally(name for name, *_ in portions)
    adding = threading.Lock()

    def one(name: str, heap: Heap, first: int, runs: int) -> None:
        key = name, heap.name
        if table.counts.get(key, Count()).hung < MOST_HUNG:  # else it was shown
            found = counter.count(name, heap, runs, first + 1)
            with adding:
                table.counts[key] = table.counts.get(key, Count()) + found

    begun = time.monotonic()
    with ThreadPoolExecutor(jobs) as pool, Bar(Console(stderr=True)) as bar:
        bar.phase(f"{len(table.catalogue.mistakes)} mistakes, {runs} runs each, under {', '.join(heap.name for heap in table.heaps)}")
        waiting: dict[Future[None], tuple[str, Heap]] = {pool.submit(one, *portion): portion[:2] for portion in portions}
        try:
            for done, future in enumerate(as_completed(waiting), 1):
                name, heap = waiting[future]
                future.result()
                missing[name] -= 1
                passed = time.monotonic() - begun
                bar.step(f"{name} under {heap.name}", passed, passed / done * (len(portions) - done))
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            table.keep({m.name for m in table.catalogue.mistakes if missing[m.name] == 0})
            say("interrupted: only the mistakes that were made under every heap are shown", "yellow")
            return True
        except Complaint:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return False


def show_list(chosen: catalogue.Catalogue) -> None:
    console = terminal()
    for group, members in chosen.in_groups():
        console.print(group.title, style="bold", markup=False)
        for mistake in members:
            console.print(f"  {mistake.name:<24} {mistake.what}; harm: {mistake.harm}", markup=False, soft_wrap=True)
