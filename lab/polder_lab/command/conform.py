"""polder conform: what a malloc must do, and which ones do it."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

import click
from rich.console import Console

from polder_lab import heap as heaps_of
from polder_lab import machine, place
from polder_lab.command.shared import (
    Amount,
    brief,
    build_option,
    hand_nothing_on,
    must_be_writable,
    must_have_polder,
    say,
    tell,
    terminal,
    words,
)
from polder_lab.complaint import Complaint
from polder_lab.conform import catalogue, matrix
from polder_lab.conform.matrix import Matrix
from polder_lab.conform.run import Runner
from polder_lab.heap import SYSTEM, Heap
from polder_lab.launch import Launcher, build_launcher
from polder_lab.progress import Bar


@click.command()
@click.option("--heap", "names", multiple=True, metavar="A,B", help="Registered heaps, peers, or system.  [default: polder]")
@click.option("--lib", "libraries", multiple=True, metavar="FILE", help="Any malloc library.")
@click.option("--all", "everything", is_flag=True,
              help="The system's malloc, every registered heap, every peer that is there (sheets and secure builds by name only).")
@click.option("--only", multiple=True, metavar="PROBE", help="Probes by name, pattern (* ?) or group.")
@click.option("--list", "listed", is_flag=True, help="The probes: what they demand, and where that comes from.")
@click.option("--json", "json_file", type=click.Path(path_type=Path, allow_dash=True), metavar="FILE",
              help="Write every result to this file; - is standard output, instead of the matrix.")
@click.option("--markdown", is_flag=True, help="Print the matrix in Markdown.")
@click.option("--limit", type=Amount(min=0, min_open=True), metavar="SECONDS",
              help="When a probe counts as hanging.  [default: its own, 20 to 240]")
@click.option("--again", type=click.IntRange(min=0), default=2, show_default=True, help="How often an unmet demand is asked again.")
@build_option
def conform(names: tuple[str, ...], libraries: tuple[str, ...], everything: bool, only: tuple[str, ...], listed: bool,
            json_file: Path | None, markdown: bool, limit: float | None, again: int, build: Path | None) -> None:
    """Ask any malloc what C, POSIX and Linux demand of it, and print a matrix.

    Exit status 1 when a heap that was asked for fails a demand; with --all, when one of Polder's own does. --all
    without Polder is refused.
    """
    hand_nothing_on("the probes")
    where = place.find(build.resolve() if build else None)
    must_be_writable(json_file)
    probes = catalogue.read(where.probe).chosen([word for text in only for word in words(text)])
    if listed:
        show_list(probes, as_json=json_file is not None)
        return
    asked = [heaps_of.find(name, where) for text in names for name in words(text)]
    asked += [heaps_of.find(str(Path(file).expanduser().resolve()), where) for file in libraries]
    if not asked and not everything:
        asked = [heaps_of.find("polder", where)]
    table = Matrix(probes, [])
    with tempfile.TemporaryDirectory(prefix="polder-conform-") as scratch:
        runner = Runner(where.probe, Launcher(build_launcher(where.own), Path(scratch)), limit, again)
        table.heaps = served(asked, everything, where, runner, table.left_out)
        if everything:
            must_have_polder(table.heaps, table.left_out)
        interrupted = ask(table, runner)
    about = machine.describe(where)

    def show() -> None:
        if markdown:
            sys.stdout.write(matrix.markdown(table, brief(about)))
        else:
            matrix.show(table, terminal())

    tell(json.dumps(table.as_json(about), indent=1), json_file, show)
    counted = asked or [heap for heap in table.heaps if heap.kind == "polder"]
    failed = any(table.failures(heap) for heap in table.heaps if heap.library in {h.library for h in counted})
    sys.exit(130 if interrupted else 1 if failed else 0)


def served(asked: list[Heap], everything: bool, where: place.Place, runner: Runner, left_out: list[str]) -> list[Heap]:
    """The heaps whose malloc the probes really run on. One that was asked for by name and does not is a mistake."""
    for heap in asked:
        if not heap.present:
            raise Complaint(f"{heap.name}: {heap.library or 'its library'} is not there")
        if why := runner.objection(heap):
            raise Complaint(f"{heap.name}: {why}")
    chosen = {heap.library: heap for heap in asked}
    if everything:
        others = sorted(heaps_of.catalogue(where), key=lambda heap: ("system", "polder", "peer").index(heap.kind))
        for heap in others:
            if heap.variant:
                left_out.append(f"{heap.name}: {heap.variant}")
            elif not heap.present:
                left_out.append(f"{heap.name}: not there")
            elif heap.library not in chosen:
                if why := runner.objection(heap):
                    left_out.append(f"{heap.name}: {why}")
                else:
                    chosen[heap.library] = heap
    in_order = sorted(chosen.values(), key=lambda heap: heap != SYSTEM)
    if len({heap.name for heap in in_order}) < len(in_order):
        raise Complaint("two of these libraries have the same name; ask them one after the other")
    return in_order


def ask(table: Matrix, runner: Runner) -> bool:
    """Probe by probe under every heap, so that a noisy minute meets all of them. True if it was interrupted: then the
    probes that were not asked of every heap are left out."""
    total, done, begun = len(table.catalogue.probes) * len(table.heaps), 0, time.monotonic()
    try:
        with Bar(Console(stderr=True)) as bar:
            bar.phase(f"{len(table.catalogue.probes)} probes under {', '.join(heap.name for heap in table.heaps)}")
            for probe in table.catalogue.probes:
                for heap in table.heaps:
                    passed = time.monotonic() - begun
                    bar.step(f"{probe.name} under {heap.name}", passed, passed / done * (total - done) if done else total * 1.0)
                    table.results[probe.name, heap.name] = runner.verdict(probe, heap, table.catalogue.group(probe).demanded)
                    done += 1
    except KeyboardInterrupt:
        table.keep_finished()
        say("interrupted: only the probes that every heap was asked are shown", "yellow")
        return True
    return False


def show_list(probes: catalogue.Catalogue, as_json: bool) -> None:
    table = Matrix(probes, [])
    if as_json:
        told = table.as_json({})
        sys.stdout.write(json.dumps({key: told[key] for key in ("groups", "probes")}, indent=1) + "\n")
        return
    console = terminal()
    for group, members in table.groups():
        console.print(matrix.title(group), style="bold", markup=False)
        for probe in members:
            console.print(f"  {probe.name:<26} {probe.demand} ({probe.source})", markup=False, soft_wrap=True)
