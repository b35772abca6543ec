"""Pictures of charts, PNG or SVG, drawn by an installed Chromium through kaleido. Nothing is fetched."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import kaleido
import plotly

from polder_lab.complaint import Complaint
from polder_lab.report import look
from polder_lab.report.chart.part import Chart

BROWSERS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
SCRIPT = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"


def browser() -> str:
    named = os.environ.get("BROWSER_PATH")
    found = next((path for name in ([named] if named else BROWSERS) if (path := shutil.which(name))), None)
    if found is None:
        raise Complaint(f"BROWSER_PATH names no program: {named}" if named else "pictures need Chromium: apt-get install chromium")
    return found


def on_paper(chart: Chart, width: int, height: int) -> Chart:
    """With what the page has elsewhere: title, legend, a light ground."""
    layout = chart["layout"]
    return {
        "data": chart["data"],
        "layout": {
            "showlegend": True,
            **layout,
            "template": look.LIGHT,
            "width": width,
            "height": layout.get("height") or height,
            "margin": {"l": 80, "r": 30, "t": 60, "b": 90, **layout.get("margin", {})},
        },
    }


def write(charts: Mapping[str, Chart], folder: Path, kind: str, *, width: int = 900, height: int = 520) -> list[Path]:
    """kind: png or svg. The files are named after the charts."""
    path = browser()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as why:
        raise Complaint(f"cannot make the folder {folder}: {why.strerror}") from why
    logging.getLogger("choreographer").setLevel(logging.ERROR)
    logging.getLogger("kaleido").setLevel(logging.ERROR)
    asyncio.run(draw(path, {folder / f"{name}.{kind}": on_paper(chart, width, height) for name, chart in charts.items()}, kind))
    return [folder / f"{name}.{kind}" for name in charts]


async def draw(path: str, files: Mapping[Path, Chart], kind: str) -> None:
    options: dict[str, Any] = {"format": kind, "scale": 2 if kind == "png" else 1}
    async with kaleido.Kaleido(path=path, mathjax=False, plotlyjs=SCRIPT, enable_sandbox=os.geteuid() != 0) as painter:
        for file, figure in files.items():
            file.write_bytes(await painter.calc_fig(figure, opts=options))
