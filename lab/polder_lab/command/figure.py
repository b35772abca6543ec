"""polder figure NAME: a figure of a paper, ours beside its statement."""

from __future__ import annotations

import json
import subprocess
import tempfile
import textwrap
import time
from pathlib import Path

import click
from rich.table import Table

from polder_lab import figure as figures
from polder_lab import journal, machine, place
from polder_lab.command.report import save
from polder_lab.command.shared import build_option, forget_inherited, must_be_writable, say, terminal
from polder_lab.complaint import Complaint
from polder_lab.figure import recorded
from polder_lab.figure.part import Figure, Presets
from polder_lab.launch import Launcher, build_launcher
from polder_lab.place import Place
from polder_lab.report import picture, recorded_page, units
from polder_lab.report.chart.part import Chart, view_of
from polder_lab.report.figure_page import render
from polder_lab.report.records import read
from polder_lab.timeline import drawing
from polder_lab.workload import listed


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
    must_be_writable(out, "--out")
    if isinstance(one, recorded.Timeline):
        if files:
            raise Complaint(f"{one.name} is drawn from a recording that it makes itself: --records does not go with it")
        click.echo(draw_recorded(one, where, out))
        return
    known = presets_of(where)
    told(one)
    if not files and not any(where.results.glob("*.jsonl")):
        raise Complaint(f"there are no records to draw it from; this makes them:\n  {one.command_with(known)}")
    paths = list(files) or [journal.newest(where.results)]
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


def draw_recorded(one: recorded.Timeline, where: Place, out: Path | None) -> Path:
    forget_inherited()
    if not where.bench.exists():
        raise Complaint(f"the workloads are not built: {where.bench} is missing")
    known = {name for workload in listed(where) if workload.name == "set" for name in workload.parameters}
    if gone := [name for name in ("structure", "reclaimer", *one.needs) if name not in known]:
        raise Complaint(f"{one.name} needs a workload set with the parameter {gone[0]}, which {where.bench} does not have")
    target = out or where.results / f"{one.name}.html"
    target.parent.mkdir(parents=True, exist_ok=True)
    told(one)
    with tempfile.TemporaryDirectory(prefix="polder-figure-") as scratch:
        launcher = Launcher(build_launcher(where.own), Path(scratch))
        shown = recorded.record(one, where, launcher, target.parent, say)
        compared = recorded.compare(one, where, launcher, time.time_ns() % 2**31, say) if target.suffix == ".html" else []
    for side in shown:
        say(f"  {side.setup.label}, {side.heap.name}: " + "; ".join(f"{name} {value}" for name, value in side.facts))
    for each in compared:
        say(f"  {each.what}, {one.setups[0].label} over {one.setups[1].label}: {units.ratio(each.ratio.value)}")
    if target.suffix == ".html":
        save(target, recorded_page.render(one, shown, compared, machine.describe(where), where))
        return target
    of = shown[0].recording
    made = drawing.draw(of, 0.0, of.seconds)
    sheet, height = drawing.on_one_sheet(made, f"{one.caption}: {shown[0].setup.label}, {shown[0].heap.name}", made.left_out)
    picture.write({target.stem: sheet}, target.parent, target.suffix[1:], width=1600, height=height)
    return target


def told(one: Figure | recorded.Timeline) -> None:
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
    view = view_of(read(list(files) or [journal.newest(where.results)])) if there else None
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
    for timeline in figures.RECORDED:
        grid.add_row(timeline.name, timeline.caption, "set", "", "is recorded when asked for")
    terminal().print(grid)
    for name, why in figures.NOT_HERE.items():
        if name.startswith("thesis"):
            say(f"not here: {name} {why}", "dim")


def has_preset(one: Figure, known: Presets) -> bool:
    there = known.get(one.workload, set())
    return any(preset.startswith(one.presets) for preset in there) if one.sweep else any(preset in there for preset in one.presets)
