"""polder list and polder explain: what there is."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.table import Table

from polder_lab import heap as heaps_of
from polder_lab import place, structure
from polder_lab.command.shared import Commands, build_option, say, terminal
from polder_lab.complaint import Complaint
from polder_lab.heap import Heap
from polder_lab.structure import Entry

if TYPE_CHECKING:
    from polder_lab.report.standing import Measured, Standing


@click.group("list", cls=Commands)
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
        grid.add_row(h.name, there, h.year, h.summary + ("" if h.present or h.kind != "peer" else f" ({h.how_to_get})"),
                     style=None if h.present else "dim")
    terminal().print(grid)


# What is told of an entry besides its name, by registry: heading, and the text.
COLUMNS: dict[str, dict[str, Callable[[Entry], str]]] = {
    "reclaimers": {
        "paper": lambda e: cited(e),
        "protects": lambda e: f"{e['protects']}{', restarts readers' if e['restarts'] else ''}",
        "readers": lambda e: str(e["readers"]),
        "bound on garbage": lambda e: str(e["bound"]),
        "a thread that stalls": lambda e: str(e["stall"]),
        "words an object": lambda e: str(e["words_per_object"]),
    },
    "drains": {"what is done with what is safe": lambda e: str(e["summary"])},
    "structures": {
        "paper": lambda e: cited(e),
        "semantics": lambda e: str(e["semantics"]),
        "readers, or get": lambda e: str(e["readers"]),
        "updates, or put": lambda e: str(e["updaters"]),
        "holds": lambda e: str(e["capacity"] or "any number"),
        "parameters": lambda e: str(e["parameters"] or "none"),
        "needs": lambda e: f"{e['needs']}{'; searches may restart' if e['restarts'] else ''}",
    },
}


def measured_columns(of: Measured | None) -> dict[str, Callable[[Entry], str]]:
    """What records of the suite `structures` say of each."""
    if of is None:
        return {}

    def column(text: Callable[[Standing], str], threads: int) -> Callable[[Entry], str]:
        def told(entry: Entry) -> str:
            one = of.standing(str(entry["name"]), threads)
            return text(one) if one else "–"

        return told

    columns: dict[str, Callable[[Entry], str]] = {}
    for threads in of.threads:
        columns[f"throughput, {threads} threads"] = column(throughput, threads)
    for threads in of.threads:
        columns[f"lateness, k, {threads} threads"] = column(lateness, threads)
    return columns


def throughput(one: Standing) -> str:
    from polder_lab.report import units  # here and below, since the report takes longer to load than this takes

    of = units.count(one.throughput.value)
    return f"{units.ratio(one.ratio.value)} ({of}/s)" if one.ratio else f"1 ({of}/s)"


def lateness(one: Standing) -> str:
    from polder_lab.report import units

    if one.quality is None:
        return "–"
    k = f"{one.quality.k:.0f}" + (f" of {one.quality.promised:.0f}" if one.quality.promised else "")
    return f"{units.count(one.quality.lateness)}, {k}"


def measured(records: Path | None, where: place.Place) -> Measured | None:
    """By the records that were named, or the newest of structures, if there are any."""
    found = records or newest(where)
    if found is None:
        return None
    from polder_lab.report.standing import measured_in

    return measured_in(found)


def newest(where: place.Place) -> Path | None:
    from polder_lab import journal

    files = sorted(where.results.glob(f"*{journal.SUFFIX}"), key=lambda file: file.stat().st_mtime, reverse=True)
    return next((file for file in files if suite_of(file) == "structures"), None)


def suite_of(file: Path) -> str:
    try:
        with file.open(encoding="utf-8") as lines:
            return str(json.loads(lines.readline())["settings"]["suite"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def cited(entry: Entry) -> str:
    year = str(entry["year"])
    return entry["paper"] if year in entry["paper"] else f"{entry['paper']}, {year}"


def list_registry(registry: str) -> click.Command:
    """The command that lists one of the registries of reclamation."""

    def listed(as_json: bool, markdown: bool, build: Path | None, records: Path | None = None) -> None:
        where = place.find(build.resolve() if build else None)
        entries = structure.told(where, registry)
        looked = measured(records, where) if registry == "structures" and not as_json else None
        columns = {**COLUMNS[registry], **measured_columns(looked)}
        if as_json:
            sys.stdout.write(json.dumps({registry: entries}, indent=1) + "\n")
        elif markdown:
            sys.stdout.write(f"| {registry[:-1]} | {' | '.join(columns)} |\n|{' --- |' * (len(columns) + 1)}\n")
            for e in entries:
                sys.stdout.write(f"| `{e['name']}` | {' | '.join(text(e) for text in columns.values())} |\n")
            if looked:
                sys.stdout.write(f"\n{looked.how}\n")
        else:
            console = terminal()
            width = max(map(len, columns))
            for e in entries:
                console.print(e["name"], style="bold", markup=False, end="")
                console.print(f" — {e['title']}" if e.get("title") else "", markup=False)
                for heading, text in columns.items():
                    console.print(f"  {heading:<{width}} {text(e)}", markup=False, soft_wrap=True)
            if looked:
                console.print(f"\n{looked.how}", markup=False, style="dim")

    command = click.command(registry, help=f"The registered {registry}.")
    if registry == "structures":
        listed = click.option("--records", type=click.Path(path_type=Path), metavar="FILE",
                              help="What was measured, by the suite structures.  [default: the newest in results/]")(listed)
    return command(click.option("--json", "as_json", is_flag=True)(click.option("--markdown", is_flag=True)(build_option(listed))))


for name in COLUMNS:
    listing.add_command(list_registry(name))


def paper(h: Heap) -> str:
    return f"{h.paper}, {h.year}" if h.paper and h.year and h.year not in h.paper else h.paper or h.year


@click.command()
@click.argument("name", metavar="HEAP")
@build_option
def explain(name: str, build: Path | None) -> None:
    """What a heap is."""
    where = place.find(build.resolve() if build else None)
    found = {spelt: h for h in heaps_of.catalogue(where) for spelt in (h.name, *h.also)}
    if name not in found:
        raise heaps_missing(name, where) if not where.registry.exists() else heaps_of.no_such(name, found)
    h = found[name]
    missing = "" if h.present else h.how_to_get
    compare_with = {"system": "every comparison is against it", "peer": f"./polder compare --heaps {h.name}"}
    facts = (("paper" if h.paper else "year", paper(h)), ("sheet of", h.sheet_of), ("progress", h.progress),
             ("version", ", ".join(told for told in (h.version, h.origin) if told)),
             ("library", str(h.library) if h.present and h.library else ""), ("missing", missing),
             ("run", f"./polder run --heap {h.name} -- CMD" if h.kind == "polder" else ""),
             ("compare", compare_with.get(h.kind, f"./polder compare --heaps {h.name} -- CMD")))
    console = terminal()
    console.print(f"{h.name} — {h.title}" if h.title and h.title != h.name else h.name, style="bold", markup=False)
    console.print(f"\n{h.summary}\n", markup=False)
    for fact, told in facts:
        if told:
            console.print(f"  {fact:<9} {told}", markup=False, soft_wrap=True)
    for number, option in enumerate(h.options):
        told = f"{option['name']}={option['default']}  ({option['takes']})"
        console.print(f"  {'' if number else 'options':<9} {told}", markup=False, soft_wrap=True)


def heaps_missing(name: str, where: place.Place) -> Complaint:
    return Complaint(f"there is no heap '{name}' among the system's and the peers; Polder's own are not built: {where.registry} is missing")
