"""The commands. Tables go to standard output, everything else to standard error.

Exit status: 0 all well · 1 a run crashed, hung or printed something else · 2 wrong use · 130 interrupted.
"""

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
from rich.table import Table

from polder_lab import heap as heaps_of
from polder_lab import machine, place, record, table
from polder_lab.complaint import Complaint, nearest, unknown
from polder_lab.experiment import Experiment, Terms
from polder_lab.heap import Heap
from polder_lab.launch import NOT_INHERITED, Launcher, build_launcher
from polder_lab.progress import Bar
from polder_lab.row import Selection, command_row, select

QUICK_SCALE = 0.4


class Commands(click.Group):
    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args and self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            raise Complaint(f"there is no command '{args[0]}'; nearest: {', '.join(nearest(args[0], self.list_commands(ctx)))}")
        return super().resolve_command(ctx, args)


@click.group(cls=Commands)
def app() -> None:
    """Polder's laboratory."""


build_option = click.option("--build", type=click.Path(path_type=Path), metavar="FOLDER",
                            help="The build to measure or to ask.  [default: build/release]")


def say(text: str, style: str | None = None) -> None:
    Console(stderr=True).print(text, style=style, highlight=False, markup=False, soft_wrap=True)


def words(text: str) -> list[str]:
    return [word for word in (part.strip() for part in text.split(",")) if word]


def thread_counts(text: str) -> list[int]:
    try:
        counts = [int(word) for word in words(text)]
    except ValueError:
        counts = []
    if not counts or min(counts) < 1:
        raise Complaint(f"--threads wants numbers such as 1,2,8, not '{text}'")
    return list(dict.fromkeys(counts))


@app.command(context_settings={"allow_interspersed_args": False})
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.option("--heaps", default="polder", show_default=True, metavar="A,B", help="Names or .so paths; 'all': all that are present.")
@click.option("--rounds", type=click.IntRange(min=1), help="How often.  [default: as many as fit into --minutes, 6 to 20]")
@click.option("--minutes", type=click.FloatRange(min=0, min_open=True), help="How long.  [default: 5]")
@click.option("--quick", is_flag=True, help="About two minutes: smaller jobs, workloads at 2 threads only.")
@click.option("--only", multiple=True, metavar="PATTERN", help="Rows whose name contains it (or matches it: * ?); larson/8 is one row.")
@click.option("--threads", default="", metavar="1,2,8", help="Thread counts of the workloads.  [default: 1,2,8]")
@click.option("--limit", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS",
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
    inherited = [name for name in NOT_INHERITED if os.environ.pop(name, "")]  # nor may our own helpers have them
    where = place.find(build.resolve() if build else None)
    if json_file and str(json_file) != "-" and not json_file.resolve().parent.is_dir():
        raise Complaint(f"--json: there is no folder {json_file.resolve().parent}")
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
            selection = select(where, [p for text in only for p in words(text)], counts, scratch, QUICK_SCALE if quick else 1.0)
        left_out = absent + selection.left_out
        (scratch / "runs").mkdir()
        launcher = Launcher(build_launcher(where.own), scratch / "runs")
        quiet = machine.Quiet()
        with Bar(Console(stderr=True)) as bar:
            outcome = Experiment(selection.rows, chosen, terms, launcher, bar).run()
        outcome.others_share = quiet.others_share()
    settings: dict[str, Any] = {"heaps": heaps, "quick": quick, "only": list(only), "threads": counts, "limit": terms.limit}
    told = json.dumps(record.as_json(outcome, about, settings, left_out), indent=1)
    if json_file and str(json_file) != "-":
        json_file.write_text(told + "\n")
    if json_file and str(json_file) == "-":
        sys.stdout.write(told + "\n")
    elif markdown:
        sys.stdout.write(table.markdown(outcome, left_out, brief(about)))
    else:
        table.show(outcome, left_out, terminal())
        Console().print(brief(about), style="dim", highlight=False, markup=False, soft_wrap=True)
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


def brief(about: dict[str, Any]) -> str:
    return (f"{about['cpu']}, {about['cores']} cores, Linux {about['kernel']}, {about['distribution']}, {about['libc']}, "
            f"huge pages {about['transparent_huge_pages'] or 'unknown'}, commit {about['commit'][:10] or 'unknown'}"
            f"{' with changes' if about['uncommitted_changes'] else ''}")


def terminal() -> Console:
    console = Console(highlight=False)
    return Console(highlight=False, width=max(table.WIDTH + 20, console.width))


@app.group("list", cls=Commands)
def listing() -> None:
    """What there is."""


@listing.command("heaps")
@click.option("--json", "as_json", is_flag=True)
@click.option("--markdown", is_flag=True, help="The catalogue of the registered heaps.")
@build_option
def list_heaps(as_json: bool, markdown: bool, build: Path | None) -> None:
    """The registered heaps, the system's malloc and the peers known by name."""
    where = place.find(build.resolve() if build else None)
    found = heaps_of.catalogue(where)
    if as_json:
        sys.stdout.write(json.dumps({"heaps": [h.as_json() for h in found]}, indent=1) + "\n")
        return
    if markdown:
        own = [h for h in found if h.kind == "polder"]
        sys.stdout.write("| heap | paper | progress | what it is |\n| --- | --- | --- | --- |\n")
        sys.stdout.write("".join(f"| `{h.name}` | {paper(h)} | {h.progress} | {h.summary} |\n" for h in own))
        return
    if not where.registry.exists():
        say(f"Polder's own heaps are not built: {where.registry} is missing", "yellow")
    grid = Table(box=None, pad_edge=False, header_style="dim")
    for head in ("heap", "", "year", "what it is"):
        grid.add_column(head, no_wrap=head != "what it is")
    for h in found:
        there = {"polder": "ours", "system": "system", "peer": "peer"}[h.kind] if h.present else "missing"
        grid.add_row(h.name, there, h.year, h.summary + ("" if h.present or not h.package else f" (apt-get install {h.package})"),
                     style=None if h.present else "dim")
    terminal().print(grid)


def paper(h: Heap) -> str:
    return f"{h.paper}, {h.year}" if h.paper and h.year and h.year not in h.paper else h.paper or h.year


@app.command()
@click.argument("name", metavar="HEAP")
@build_option
def explain(name: str, build: Path | None) -> None:
    """What a heap is."""
    where = place.find(build.resolve() if build else None)
    found = {h.name: h for h in heaps_of.catalogue(where)}
    if name not in found:
        raise heaps_missing(name, where) if not where.registry.exists() else unknown("heap", name, found)
    h = found[name]
    missing = "" if h.present else f"apt-get install {h.package}" if h.package else "not built"
    compare_with = {"system": "every comparison is against it", "peer": f"./polder compare --heaps {h.name}"}
    facts = (("paper" if h.paper else "year", paper(h)), ("progress", h.progress),
             ("library", str(h.library) if h.present and h.library else ""), ("missing", missing),
             ("run", f"./polder run --heap {h.name} -- CMD" if h.kind == "polder" else ""),
             ("compare", compare_with.get(h.kind, f"./polder compare --heaps {h.name} -- CMD")))
    console = terminal()
    console.print(f"{h.name} — {h.title}" if h.title and h.title != h.name else h.name, style="bold", markup=False)
    console.print(f"\n{h.summary}\n", markup=False)
    for fact, told in facts:
        if told:
            console.print(f"  {fact:<9} {told}", markup=False, soft_wrap=True)


def heaps_missing(name: str, where: place.Place) -> Complaint:
    return Complaint(f"there is no heap '{name}' among the system's and the peers; Polder's own are not built: {where.registry} is missing")


def main(arguments: list[str] | None = None) -> None:
    try:
        app(arguments, prog_name="./polder")
    except Complaint as complaint:
        say(f"polder: {complaint}", "red")
        sys.exit(2)


if __name__ == "__main__":
    main()
