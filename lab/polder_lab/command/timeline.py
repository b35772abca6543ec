"""polder timeline: a recording becomes a page, pictures, and what other viewers read."""

from __future__ import annotations

import shlex
from pathlib import Path

import click
from rich.table import Table

from polder_lab.command.report import save
from polder_lab.command.shared import Amount, must_be_writable, say, terminal
from polder_lab.complaint import Complaint
from polder_lab.report import picture
from polder_lab.timeline import drawing, page, perfetto, recording, words
from polder_lab.timeline.share import shares

path = click.Path(path_type=Path)


@click.command("timeline")
@click.argument("files", nargs=-1, type=path, required=True, metavar="FILE…")
@click.option("--out", type=path, metavar="PAGE", help="Where the page goes.  [default: FILE.html]")
@click.option("--png", type=path, metavar="F", help="A picture too.")
@click.option("--svg", type=path, metavar="F", help="The same, SVG.")
@click.option("--perfetto", "trace", type=path, metavar="F", help="All events as Chrome's trace events, for ui.perfetto.dev.")
@click.option("--from", "since", type=Amount(min=0), metavar="S", help="Only what is after so many seconds.")
@click.option("--to", "until", type=Amount(min=0, min_open=True), metavar="S", help="Only what is before.")
def timeline(
    files: tuple[Path, ...],
    out: Path | None,
    png: Path | None,
    svg: Path | None,
    trace: Path | None,
    since: float | None,
    until: float | None,
) -> None:
    """Draw what each thread did when. Several files, of one process or of several, become one picture."""
    for picked, kind in ((png, ".png"), (svg, ".svg")):
        if picked is not None and picked.suffix != kind:
            raise Complaint(f"--{kind[1:]} wants a name that ends in {kind}, not '{picked.name}'")
    target = out or files[0].parent / f"{files[0].name}.html"  # also of / and ., which are refused when they are read
    for made_file in (target, png, svg, trace):
        if made_file is not None and any(same(made_file, file) for file in files):
            raise Complaint(f"{made_file} is a recording that is to be drawn: it would be overwritten")
    for made_file, option in ((out, "--out"), (png, "--png"), (svg, "--svg"), (trace, "--perfetto")):
        must_be_writable(made_file, option)
    if png or svg:
        picture.browser()  # before any work
    all_of_it = recording.read(files)
    whole = since is None and until is None
    part = all_of_it if whole else recording.within(all_of_it, since, until)
    low, high = since or 0.0, min(all_of_it.seconds, until) if until is not None else all_of_it.seconds
    window = "" if whole else f"from {low:g} s to {high:g} s"
    made = drawing.draw(part, low, high)
    found = shares(part, high - low, whole)
    for warning in words.warnings(all_of_it):
        say(f"lost: {warning}", "yellow")
    for told in made.left_out:
        say(f"not in the picture: {told}")
    save(target, page.render(part, made, found, window, again(files, since, until)))
    title = " — ".join(
        part for part in ("Timeline of " + (part.sources[0].command or files[0].name), words.headline(found), window) if part
    )
    notes = [*words.warnings(part), *made.left_out]
    for picked in (png, svg):
        if picked is not None:
            sheet, height = drawing.on_one_sheet(made, title, notes)
            picture.write({picked.stem: sheet}, picked.parent, picked.suffix[1:], width=1600, height=height)
            say(f"picture  {picked}")
    if trace is not None:
        say(f"{perfetto.write(part, trace):,} events in {trace}: open it in https://ui.perfetto.dev or chrome://tracing")
    grid = Table(box=None, pad_edge=False, header_style="dim")
    for at, head in enumerate(page.HEADS):
        grid.add_column(head, justify="right" if at else "left", no_wrap=True)
    for one in found:
        grid.add_row(*page.line(one))
    terminal().print(grid)
    if headline := words.headline(found):
        click.echo(headline)
    click.echo(target)


def same(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.samefile(other)


def again(files: tuple[Path, ...], since: float | None, until: float | None) -> str:
    window = [*(["--from", f"{since:g}"] if since is not None else []), *(["--to", f"{until:g}"] if until is not None else [])]
    return shlex.join(["./polder", "timeline", *(file.name for file in files), *window])
