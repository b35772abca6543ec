"""A timeline as a page of its own, which opens from a file."""

from __future__ import annotations

from collections.abc import Sequence

from plotly.offline import get_plotlyjs

from polder_lab.report import look, units
from polder_lab.report import page as report_page
from polder_lab.timeline import words
from polder_lab.timeline.drawing import Drawing
from polder_lab.timeline.recording import Recording
from polder_lab.timeline.share import Share


def render(recording: Recording, made: Drawing, found: Sequence[Share], window: str, again: str) -> str:
    charts = {"timeline": made.timeline, **({"epochs": made.epochs} if made.epochs else {})}
    data = report_page.embedded({"charts": charts, "matrices": {}, "light": look.LIGHT, "dark": look.DARK})
    return report_page.template("timeline.html").render(
        title=recording.sources[0].command or recording.sources[0].path.name,
        headline=words.headline(found),
        window=window,
        warnings=words.warnings(recording),
        left_out=made.left_out,
        legend=made.legend,
        shares=[line(one) for one in found],
        facts=words.facts(recording),
        has_dots=bool(recording.of("point").any()),
        has_epochs=made.epochs is not None,
        files=[source.path.name for source in recording.sources],
        again=again,
        plotly=get_plotlyjs(),
        data=data,
    )


HEADS = ("kind", "events", "lost", "only counted", "time", "share", "median", "longest", "together")


def line(one: Share) -> list[str]:
    lasting = one.seconds > 0
    return [
        one.kind,
        f"{one.events:,}",
        f"{one.lost:,}" if one.lost else "",
        f"{one.brief:,}" if one.brief else "",
        units.seconds(one.seconds) if lasting else "",
        f"{one.share:.2%}" if lasting else "",
        units.seconds(one.median) if lasting and one.median else "",
        units.seconds(one.longest) if lasting and one.longest else "",
        words.counted(one.kind, one.count),
    ]
