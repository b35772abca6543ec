"""polder peers: rival allocators, built and tried."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence

import click
from rich.table import Table

from polder_lab import heap as heaps_of
from polder_lab import place
from polder_lab.command.shared import Commands, say, terminal
from polder_lab.complaint import unknown
from polder_lab.heap import Heap
from polder_lab.peer import PEERS, crate, debian
from polder_lab.peer.described import Peer
from polder_lab.peer.trial import Notebook, attempt
from polder_lab.place import Place


@click.group(cls=Commands)
def peers() -> None:
    """Rival allocators, from Debian's packages and from crates."""


@peers.command("list")
@click.option("--json", "as_json", is_flag=True)
def list_peers(as_json: bool) -> None:
    """Each rival: which version, where from, whether it works, or how to get it."""
    where = place.find()
    notes = Notebook(where)
    found = heaps_of.peers(made=where.peers)
    if as_json:
        entries = [{**h.as_json(), "state": state(h, notes), "trial": notes.of(h)} for h in found]
        sys.stdout.write(json.dumps({"peers": entries}, indent=1) + "\n")
        return
    show(found, notes)


@peers.command("build")
@click.argument("names", nargs=-1, metavar="[NAME…]")
def build_peers(names: tuple[str, ...]) -> None:
    """Install or build all rivals, or those named, and try each one. What cannot be had is named and skipped."""
    where = place.find()
    chosen = chosen_peers(names)
    skipped = prepare(chosen, where)
    notes = Notebook(where)
    for heap in heaps_of.peers(made=where.peers):
        if heap.present and heap.name in {peer.name for peer in chosen}:
            say(f"trying {heap.name} {heap.version} …")
            notes.write(heap, attempt(heap, where))
    show([h for h in heaps_of.peers(made=where.peers) if h.name in {peer.name for peer in chosen}], notes, skipped)
    wrong = [h for h in heaps_of.peers(made=where.peers) if h.name in {peer.name for peer in chosen} and (not h.present or notes.of(h))]
    sys.exit(1 if names and wrong else 0)


def chosen_peers(names: Sequence[str]) -> list[Peer]:
    known = {spelt: peer for peer in PEERS for spelt in (peer.name, *peer.also)}
    for name in names:
        if name not in known:
            raise unknown("peer", name, known)
    named = {known[name].name for name in names}
    return [peer for peer in PEERS if not names or peer.name in named]


def prepare(chosen: Sequence[Peer], where: Place) -> dict[str, str]:
    """Why a rival's best form is not to be had, by its name."""
    skipped: dict[str, str] = {}
    from_crates = [(peer, peer.crate) for peer in chosen if peer.crate]
    program = crate.cargo()
    if from_crates and program is None:
        why = debian.install(where.root, crate.WHERE_TO_FIND)
        program = crate.cargo()
        if program is None:
            wanted = ".".join(map(str, crate.OLDEST_CARGO))
            skipped |= dict.fromkeys((peer.name for peer, _ in from_crates), f"no cargo of {wanted} or newer" + (f": {why}" if why else ""))
    for peer, source in from_crates:
        if program:
            say(f"building {peer.name} out of {source.name} …")
            began = time.monotonic()
            try:
                made = crate.build(peer, source, program, where.root / "lab" / "peers", where.peers)
                say(f"built {peer.name} {made.version} in {time.monotonic() - began:.0f} s")
            except crate.CannotBuild as why_not:
                skipped[peer.name] = str(why_not)
    for peer in chosen:
        if peer.package and debian.library(peer, debian.library_folders()) is None and (peer.crate is None or peer.name in skipped):
            why = debian.install(where.root, [peer.package])
            if why:
                skipped[peer.name] = "; ".join(told for told in (skipped.get(peer.name), why) if told)
    return skipped


def state(heap: Heap, notes: Notebook) -> str:
    found = notes.of(heap)
    if not heap.present:
        return "missing"
    return "not tried" if found is None else "fails" if found else "works"


def show(found: Sequence[Heap], notes: Notebook, skipped: dict[str, str] | None = None) -> None:
    grid = Table(box=None, pad_edge=False, header_style="dim")
    for head in ("name", "version", "", "where from"):
        grid.add_column(head, no_wrap=head != "where from")
    for heap in found:
        how = state(heap, notes)
        told = [heap.origin or str(heap.library)] if heap.present else []
        told += [notes.of(heap) or ""] if how == "fails" else [heap.how_to_get] if how == "missing" and skipped is None else []
        told += [f"skipped: {skipped[heap.name]}"] if skipped and heap.name in skipped else []
        grid.add_row(heap.name, heap.version, how, "; ".join(filter(None, told)), style={"missing": "dim", "fails": "red"}.get(how))
    terminal().print(grid)
