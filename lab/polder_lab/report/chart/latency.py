"""Latency of single calls: against the percentile, and the share of calls that take longer."""

from __future__ import annotations

from polder_lab.report import units
from polder_lab.report.chart.part import Chart, View, chart, trace
from polder_lab.report.estimate import Buckets, united
from polder_lab.report.records import Row

NINES = [
    (0.5, "50 %"),
    (0.9, "90 %"),
    (0.99, "99 %"),
    (0.999, "99.9 %"),
    (0.9999, "99.99 %"),
    (0.99999, "99.999 %"),
    (0.999999, "99.9999 %"),
]


def calls_of(view: View, row: Row) -> list[str]:
    """The kinds of call that were sampled."""
    found = {
        call: None for name in view.names for run in view.records.of("latency", row.id, name) for call in run.data.get("latency") or {}
    }
    return list(found)


def sampled(view: View, row: Row, name: str, call: str) -> tuple[Buckets, float]:
    """All rounds together, and the worst of them in nanoseconds."""
    told = [of[call] for run in view.records.of("latency", row.id, name) if call in (of := run.data.get("latency") or {})]
    return united(one["buckets"] for one in told), max((one.get("worst_ns") or 0 for one in told), default=0)


def exceeding(buckets: Buckets) -> list[tuple[float, float]]:
    """At which latency which share of the calls still takes longer; the last one is left for the worst."""
    total, seen, found = sum(count for _, _, count in buckets), 0, []
    for _, high, count in buckets:
        seen += count
        if seen < total:
            found.append((high, (total - seen) / total))
    return found


def percentiles(view: View, row: Row, call: str) -> Chart | None:
    data = []
    most = 1.0
    for name in view.names:
        buckets, worst = sampled(view, row, name, call)
        if not buckets:
            continue
        total = sum(count for _, _, count in buckets)
        steps = [(buckets[0][1], 1.0), *exceeding(buckets), (buckets[-1][1], 1 / total), (max(worst, buckets[-1][1]), 1 / total)]
        most = max(most, total)
        data.append(
            trace(
                name,
                view.looks[name],
                mode="lines",
                x=[units.brief(1 / share) for _, share in steps],
                y=[units.brief(ns * 1e-9, 4) for ns, _ in steps],
                hovertemplate=f"<b>{name}</b><br>{call}: %{{y:.3~s}}s<br>1 of %{{x:.3~s}} calls takes longer<extra></extra>",
                line={"shape": "vh", "width": 2},  # beyond what a bucket holds, the end of the next one
            )
        )
    if not data:
        return None
    ticks = [(1 / (1 - share), text) for share, text in NINES if 1 / (1 - share) <= most * 1.5]
    return chart(
        data,
        f"Latency of {call} by percentile",
        xaxis={
            "title": {"text": "percentile"},
            "type": "log",
            "tickvals": [at for at, _ in ticks],
            "ticktext": [text for _, text in ticks],
        },
        yaxis=time_axis(),
    )


def ccdf(view: View, row: Row, call: str) -> Chart | None:
    data = []
    for name in view.names:
        buckets, worst = sampled(view, row, name, call)
        if not buckets:
            continue
        total = sum(count for _, _, count in buckets)
        steps = [*exceeding(buckets), (max(worst, buckets[-1][1]), 1 / total)]
        data.append(
            trace(
                name,
                view.looks[name],
                mode="lines",
                x=[units.brief(ns * 1e-9, 4) for ns, _ in steps],
                y=[units.brief(share, 4) for _, share in steps],
                hovertemplate=f"<b>{name}</b><br>{call}: %{{y:.3~%}} take longer than %{{x:.3~s}}s<extra></extra>",
                line={"shape": "hv", "width": 2},  # up to the end of a bucket the share is that above the one before it
            )
        )
    if not data:
        return None
    return chart(
        data,
        f"Calls of {call} that take longer",
        xaxis=time_axis(),
        yaxis={"title": {"text": "share of calls"}, "type": "log", "dtick": 1, "tickformat": ".4~%"},
    )


def time_axis() -> Chart:
    ticks = [10.0**n for n in range(-9, 2)]
    return {"title": {"text": "latency"}, "type": "log", "tickvals": ticks, "ticktext": [units.seconds(t * 1.0000001) for t in ticks]}
