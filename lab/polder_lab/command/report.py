"""polder bench report: records become a page, and pictures."""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path

import click

from polder_lab import journal, place
from polder_lab.command.shared import build_option, say
from polder_lab.complaint import Complaint, unknown
from polder_lab.report import page, picture
from polder_lab.report.chart.part import Chart, view_of
from polder_lab.report.records import read

USUAL_PICTURES = ("overview-*", "overall", "speed-up-*", "threads-memory-*", "figure-*")


@click.command("report")
@click.argument("records", nargs=-1, type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE.html", help="Where the page goes.  [default: beside the records]")
@click.option("--png", type=click.Path(path_type=Path), metavar="FOLDER", help="Charts as PNG as well.")
@click.option("--svg", type=click.Path(path_type=Path), metavar="FOLDER", help="Charts as SVG as well.")
@click.option(
    "--chart",
    "patterns",
    multiple=True,
    metavar="PATTERN",
    help=f"Which charts become pictures, as 'time-larson*'; '*' is all of them.  [default: {', '.join(USUAL_PICTURES)}]",
)
@build_option
def report(
    records: tuple[Path, ...], out: Path | None, png: Path | None, svg: Path | None, patterns: tuple[str, ...], build: Path | None
) -> None:
    """One page that opens from a file, out of RECORDS or the newest there are."""
    if patterns and not (png or svg):
        raise Complaint("--chart chooses among pictures: say --png FOLDER or --svg FOLDER too")
    if png or svg:
        picture.browser()  # before any work
    files = list(records) or [journal.newest(place.find(build).results)]
    made = page.make(view_of(read(files)))
    target = out or files[0].with_suffix(".html")
    pictures = chosen(made.pictures, patterns) if png or svg else {}
    save(target, page.render(made))
    for folder, kind in ((png, "png"), (svg, "svg")):
        if folder:
            picture.write(pictures, folder, kind)
            say(f"{len(pictures)} pictures in {folder}")
    click.echo(target)


def chosen(charts: dict[str, Chart], patterns: tuple[str, ...]) -> dict[str, Chart]:
    for pattern in patterns:
        if not any(fnmatch(name, pattern) for name in charts):
            raise unknown("chart", pattern, charts)
    return {name: chart for name, chart in charts.items() if any(fnmatch(name, p) for p in patterns or USUAL_PICTURES)}


def save(file: Path, text: str) -> None:
    """What is no UTF-8 in it, such as a file's name, becomes a question mark."""
    try:
        file.write_text(text, encoding="utf-8", errors="replace")
    except OSError as why:
        raise Complaint(f"cannot write {file}: {why.strerror}") from why
