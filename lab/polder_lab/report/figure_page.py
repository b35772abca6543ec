"""One figure as a page of its own."""

from __future__ import annotations

from plotly.offline import get_plotlyjs

from polder_lab.figure.part import Figure
from polder_lab.report import look, page, words
from polder_lab.report.chart.part import Chart, View


def render(figure: Figure, view: View, chart: Chart) -> str:
    shown = [subject for subject in view.records.subjects if any(trace.get("legendgroup") == subject.name for trace in chart["data"])]
    data = page.embedded({"charts": {"figure": chart}, "matrices": {}, "light": look.LIGHT, "dark": look.DARK})
    return page.template("figure.html").render(
        figure=figure,
        notes=figure.notes(view),
        facts=words.facts(view.records),
        subjects=shown,
        view=view,
        plotly=get_plotlyjs(),
        data=data,
        records=view.records,
    )
