"""polder list and polder explain: what there is."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click
from rich.table import Table

from polder_lab import heap as heaps_of
from polder_lab import place
from polder_lab.command.shared import Commands, build_option, say, terminal
from polder_lab.complaint import Complaint, unknown
from polder_lab.heap import Heap


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
        raise heaps_missing(name, where) if not where.registry.exists() else unknown("heap", name, found)
    h = found[name]
    missing = "" if h.present else h.how_to_get
    compare_with = {"system": "every comparison is against it", "peer": f"./polder compare --heaps {h.name}"}
    facts = (("paper" if h.paper else "year", paper(h)), ("progress", h.progress),
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


def heaps_missing(name: str, where: place.Place) -> Complaint:
    return Complaint(f"there is no heap '{name}' among the system's and the peers; Polder's own are not built: {where.registry} is missing")
