"""polder compare: one table of real programs and workloads under several heaps."""

from __future__ import annotations

import json
import os
import stat
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from polder_lab import heap as heaps_of
from polder_lab import machine, place, record, table
from polder_lab.command.shared import (
    Amount,
    brief,
    build_option,
    forget_inherited,
    must_be_writable,
    say,
    tell,
    terminal,
    thread_counts,
    words,
)
from polder_lab.complaint import Complaint
from polder_lab.experiment import Experiment, Terms
from polder_lab.launch import Launcher, build_launcher
from polder_lab.progress import Bar
from polder_lab.row import Selection, Wanted, command_row, select

QUICK_SCALE = 0.4


@click.command(context_settings={"allow_interspersed_args": False})
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.option("--heaps", default="polder", show_default=True, metavar="A,B",
              help="Names or .so paths; 'all': all that are present, no sheets.")
@click.option("--rounds", type=click.IntRange(min=1), help="How often.  [default: as many as fit into --minutes, 6 to 20]")
@click.option("--minutes", type=Amount(min=0, min_open=True), help="How long.  [default: 5]")
@click.option("--quick", is_flag=True, help="About two minutes: smaller jobs, workloads at 2 threads only; a command: 90 seconds.")
@click.option("--only", multiple=True, metavar="PATTERN", help="Rows whose name contains it (or matches it: * ?); larson/8 is one row.")
@click.option("--threads", default="", metavar="1,2,8", help="Thread counts of the workloads.  [default: 1,2,8]")
@click.option("--limit", type=Amount(min=0, min_open=True), metavar="SECONDS",
              help="When a run counts as hanging.  [default: 60; a command: 600]")
@click.option("--input", "stdin", type=click.Path(path_type=Path), metavar="FILE", help="Standard input of a command.")
@click.option("--markdown", is_flag=True, help="Print the table in Markdown.")
@click.option("--json", "json_file", type=click.Path(path_type=Path, allow_dash=True), metavar="FILE",
              help="Write every run to this file; - is standard output, instead of the table.")
@click.option("--seed", type=int, help="Of the random order.  [default: by the clock]")
@build_option
def compare(command: tuple[str, ...], heaps: str, rounds: int | None, minutes: float | None, quick: bool, only: tuple[str, ...],
            threads: str, limit: float | None, stdin: Path | None, markdown: bool, json_file: Path | None, seed: int | None,
            build: Path | None) -> None:
    """Run programs and workloads under the system's malloc and under Polder, and print one table.

    With -- CMD ARGS… that command is measured instead.
    """
    inherited = forget_inherited()
    where = place.find(build.resolve() if build else None)
    must_be_writable(json_file)
    chosen, absent = heaps_of.choose(words(heaps), where)
    counts = thread_counts(threads or ("2" if quick else "1,2,8"))
    terms = Terms(rounds, minutes or (1.5 if quick else 5), limit or (600 if command else 60),
                  time.time_ns() % 2**31 if seed is None else seed)
    if inherited:
        say(f"not handed on to what is measured: {', '.join(inherited)}", "yellow")
    about = machine.describe(where)
    with tempfile.TemporaryDirectory(prefix="polder-compare-") as name:
        scratch = Path(name)
        if command:
            if only or threads:
                raise Complaint("--only and --threads choose from the set: they do not go with a command")
            selection = Selection([command_row(command, standard_input(stdin, scratch))], [])
        else:
            if stdin is not None:
                raise Complaint("--input is for a command: the set's programs have inputs of their own")
            asked = [p for text in only for p in words(text)]
            selection = select(where, Wanted(asked, counts, QUICK_SCALE if quick else 1.0, of="compare"), scratch)
        left_out = absent + selection.left_out
        (scratch / "runs").mkdir()
        launcher = Launcher(build_launcher(where.own), scratch / "runs")
        quiet = machine.Quiet()
        with Bar(Console(stderr=True)) as bar:
            outcome = Experiment(selection.rows, [heaps_of.SYSTEM, *chosen], terms, launcher, bar, harness=where.harness).run()
        outcome.others_share = quiet.others_share()
    settings: dict[str, Any] = {"heaps": heaps, "quick": quick, "only": list(only), "threads": counts, "limit": terms.limit}

    def show() -> None:
        if markdown:
            sys.stdout.write(table.markdown(outcome, left_out, brief(about)))
        else:
            table.show(outcome, left_out, terminal())
            Console().print(brief(about), style="dim", highlight=False, markup=False, soft_wrap=True)

    tell(json.dumps(record.as_json(outcome, about, settings, left_out), indent=1), json_file, show)
    sys.exit(130 if outcome.interrupted else 1 if outcome.troubles else 0)


def standard_input(given: Path | None, scratch: Path) -> str:
    """A command is run many times, so its input must be a file: the one given, or the one redirected from."""
    if given is not None:
        if not given.is_file():
            raise Complaint(f"--input: there is no file {given}")
        return str(given.resolve())
    mode = os.fstat(0).st_mode
    if stat.S_ISREG(mode):
        copy = scratch / "input"
        with os.fdopen(os.dup(0), "rb") as source:
            copy.write_bytes(source.read())
        return str(copy)
    if stat.S_ISFIFO(mode):
        say("standard input is a pipe and cannot be read again and again: the command gets an empty one (use --input FILE)", "yellow")
    return "/dev/null"
