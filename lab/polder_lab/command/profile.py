"""polder profile: who holds the memory, as a table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import click
from rich.table import Table

from polder_lab import heap_profile
from polder_lab.command.shared import say, terminal
from polder_lab.heap_profile import Counts, Frame

ORDERS: dict[str, Callable[[Counts], float]] = {
    "live": lambda c: c.live_bytes, "allocated": lambda c: c.bytes, "blocks": lambda c: c.live_blocks}


@click.command("profile")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--by", type=click.Choice(sorted(ORDERS)), default="live", show_default=True,
              help="What comes first: bytes that live, bytes ever allocated, blocks that live.")
@click.option("--top", type=click.IntRange(min=1), default=20, show_default=True, help="How many lines.")
@click.option("--stacks", is_flag=True, help="Whole stacks, not only who asked.")
def profile(file: Path, by: str, top: int, stacks: bool) -> None:
    """Who holds the memory: a heap profile that a process on Polder has written (POLDER_OPTIONS=profile=NAME), as a table."""
    read = heap_profile.read(file)
    names = heap_profile.Names(read.mappings)
    names.learn(address for stack in read.stacks for address in stack)
    lines: defaultdict[tuple[Frame, ...], Counts] = defaultdict(Counts)
    for stack, counts in read.stacks.items():
        named = names.of(stack)
        lines[tuple(named) if stacks else (heap_profile.asker(named),)] += counts
    order = ORDERS[by]
    best = sorted(lines.items(), key=lambda line: -order(line[1]))
    whole = read.total()
    table = Table(box=None, pad_edge=False)
    for head in ("live MB", "share", "live blocks", "allocated MB", "blocks"):
        table.add_column(head, justify="right")
    table.add_column("who asked" if not stacks else "stack, innermost first", overflow="fold")
    for frames, c in best[:top]:
        share = order(c) / order(whole) if order(whole) else 0.0
        table.add_row(mega(c.live_bytes), f"{share:.1%}", f"{c.live_blocks:,.0f}", mega(c.bytes), f"{c.blocks:,.0f}",
                      "\n".join(str(frame) for frame in frames) or "?")
    table.add_section()
    table.add_row(mega(whole.live_bytes), "", f"{whole.live_blocks:,.0f}", mega(whole.bytes), f"{whole.blocks:,.0f}",
                  f"all{f', {len(best) - top} more lines' if len(best) > top else ''}")
    terminal().print(table)
    gap = "byte" if read.mean == 1 else f"{read.mean or 0:,} bytes"
    how = "free memory beside blocks of theirs" if read.mean is None else f"one sample for each {gap}, on average"
    say(f"{file.name}: estimated from {how}; the share is of {by}")


def mega(size: float) -> str:
    return f"{size / 1e6:,.2f}"
