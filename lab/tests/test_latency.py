"""Charts of latency: what is drawn between two points is what percentile() says there."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import pytest
from synthetic import experiment
from test_records import entry, written

from polder_lab.report.chart import latency
from polder_lab.report.chart.part import View, view_of
from polder_lab.report.estimate import percentile
from polder_lab.report.records import Row, read

LARSON = Row("larson/2", "larson")
BUCKETS = [(16, 20, 99_000), (9_000, 10_000, 1_000)]
BETWEEN = [(0.5, 20), (0.9, 20), (0.98, 20), (0.995, 10_000), (0.999, 10_000), (0.9999, 10_000)]


def view(folder: Path, worst: int) -> View:
    told = {"malloc": {"count": 100_000, "buckets": BUCKETS, "worst_ns": worst}}
    return view_of(read([written(folder / "a.jsonl", experiment(), {**entry(0, 1.0, latency=told), "pass": "latency"})]))


def drawn(chart: dict[str, Any] | None, at: float) -> float:
    """The line's height there, as plotly draws its shape: 'hv' goes sideways first, from the point on the left, and 'vh' upwards."""
    assert chart is not None
    (line,) = chart["data"]
    points = list(zip(line["x"], line["y"], strict=True))
    (_, left), (_, right) = next(pair for pair in itertools.pairwise(points) if pair[0][0] < at < pair[1][0])
    return float({"hv": left, "vh": right}[line["line"]["shape"]])


@pytest.mark.parametrize("worst", [9_700, 80_000])
@pytest.mark.parametrize(("share", "ns"), BETWEEN)
def test_the_curve_of_percentiles_is_that_of_the_numbers(tmp_path: Path, share: float, ns: int, worst: int) -> None:
    assert percentile(BUCKETS, share) == ns
    assert drawn(latency.percentiles(view(tmp_path, worst), LARSON, "malloc"), 1 / (1 - share)) == pytest.approx(ns * 1e-9)


@pytest.mark.parametrize("ns", [30, 1_000, 8_900])
def test_between_two_buckets_the_share_that_takes_longer_stays(tmp_path: Path, ns: int) -> None:
    share = drawn(latency.ccdf(view(tmp_path, 9_700), LARSON, "malloc"), ns * 1e-9)
    assert math.isclose(share, 0.01)
