"""polder figure NAME: a figure of a paper, ours beside its statement."""

from __future__ import annotations

import json
import subprocess
import textwrap
from pathlib import Path

import click
from rich.table import Table

from polder_lab import figure as figures
from polder_lab import place
from polder_lab.command.report import save
from polder_lab.command.shared import build_option, say, terminal
from polder_lab.complaint import Complaint
from polder_lab.figure.part import Figure, Presets
from polder_lab.place import Place
from polder_lab.report import picture
from polder_lab.report.chart.part import Chart, view_of
from polder_lab.report.figure_page import render
from polder_lab.report.records import newest, read


@click.command("figure")
@click.argument("name", required=False)
@click.option("--list", "listing", is_flag=True, help="All figures, and which of them the records can redraw.")
@click.option("--records", "files", multiple=True, type=click.Path(path_type=Path), metavar="FILE", help="[default: the newest]")
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="FILE", help=".html, .png or .svg.  [default: NAME.html beside the records]"
)
@build_option
def figure(name: str | None, listing: bool, files: tuple[Path, ...], out: Path | None, build: Path | None) -> None:
    """Draw our counterpart of a figure of the papers, beside what the paper says."""
    where = place.find(build.resolve() if build else None)
    if listing:
        show_all(files, where)
        return
    if name is None:
        raise Complaint("which figure? ./polder figure --list names them")
    one = figures.find(name)
    target_kind(out)
    known = presets_of(where)
    told(one)
    if not files and not any(where.results.glob("*.jsonl")):
        raise Complaint(f"there are no records to draw it from; this makes them:\n  {one.command_with(known)}")
    paths = list(files) or [newest(where.results)]
    view = view_of(read(paths))
    chart = one.draw(view)
    if chart is None:
        raise Complaint(
            f"{one.name} cannot be drawn from {', '.join(p.name for p in paths)}: {one.lacks(view)}; this makes what is "
            f"needed:\n  {one.command_with(known)}"
        )
    for note in one.notes(view):
        say(f"  {note}")
    target = out or paths[0].with_name(f"{one.name}.html")
    if target.suffix == ".html":
        save(target, render(one, view, chart))
    else:
        paint(one, chart, target)
    click.echo(target)


def target_kind(out: Path | None) -> None:
    if out is not None and out.suffix not in (".html", ".png", ".svg"):
        raise Complaint(f"--out wants a name that ends in .html, .png or .svg, not '{out.name}'")
    if out is not None and out.suffix != ".html":
        picture.browser()


def told(one: Figure) -> None:
    say(f"{one.paper.short}, figure {one.number}: {one.caption}", "bold")
    say(f"  The paper: {one.statement}")


def paint(one: Figure, chart: Chart, target: Path) -> None:
    """The statement stands above the chart."""
    lines = textwrap.wrap(f"{one.paper.short}, figure {one.number}, says: {one.statement}", 110)
    title = {
        "text": "<br>".join([f"<b>{one.drawn}</b>", *(f"<span style='font-size:12px'>{line}</span>" for line in lines)]),
        "pad": {"t": 26},
    }
    whole = {"data": chart["data"], "layout": {**chart["layout"], "title": title, "margin": {"t": 76 + 18 * len(lines)}}}
    picture.write({target.stem: whole}, target.parent, target.suffix[1:], height=560)


def presets_of(where: Place) -> Presets | None:
    """The presets that there are, if the workloads are built."""
    try:
        listed = json.loads(subprocess.run([where.bench, "list", "--json"], capture_output=True, text=True, timeout=20, check=True).stdout)
        return {w["name"]: {p["name"] for p in w["presets"]} for w in listed["workloads"]}
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError):
        return None


def show_all(files: tuple[Path, ...], where: Place) -> None:
    known = presets_of(where)
    there = bool(files) or any(where.results.glob("*.jsonl"))
    view = view_of(read(list(files) or [newest(where.results)])) if there else None
    grid = Table(box=None, pad_edge=False, header_style="dim")
    for head in ("figure", "what it shows", "workload", "preset", "here"):
        grid.add_column(head, no_wrap=head != "what it shows")
    for one in figures.ALL:
        drawn = view is not None and one.draw(view) is not None
        gone = known is not None and one.presets and not has_preset(one, known)
        grid.add_row(
            one.name,
            one.caption,
            one.workload,
            f"{one.presets[0]}*" if one.sweep else one.preset(known),
            "can be drawn" if drawn else "no preset" if gone else "needs other rows" if view else "needs records",
            style=None if drawn else "dim",
        )
    terminal().print(grid)
    for name, why in figures.NOT_HERE.items():
        if name.startswith("thesis"):
            say(f"not here: {name}.x {why}", "dim")


def has_preset(one: Figure, known: Presets) -> bool:
    there = known.get(one.workload, set())
    return any(preset.startswith(one.presets) for preset in there) if one.sweep else any(preset in there for preset in one.presets)
