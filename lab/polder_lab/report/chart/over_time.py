"""Resident memory over time, and the live bytes where a workload tells them."""

from __future__ import annotations

from polder_lab.report.chart.part import Chart, View, byte_axis, chart, trace
from polder_lab.report.records import Row, Run

MOST_POINTS = 800


def of_middle_peak(runs: list[Run]) -> Run | None:
    """The repetition whose peak is the median of the peaks."""
    sampled = [run for run in runs if (run.data.get("memory") or {}).get("rss")]
    return sorted(sampled, key=lambda run: max(run.data["memory"]["rss"]))[len(sampled) // 2] if sampled else None


def thinned(samples: list[float], interval: float) -> tuple[list[float], list[float]]:
    """Of many samples the lowest and the highest of each stretch, so that no peak is lost; the first is one interval old."""

    def at(i: int) -> float:
        return round((i + 1) * interval, 4)

    stretch = max(1, -(-2 * len(samples) // MOST_POINTS))
    if stretch == 1:
        return [at(i) for i in range(len(samples))], samples
    kept: list[int] = []
    for start in range(0, len(samples), stretch):
        window = range(start, min(start + stretch, len(samples)))
        kept += sorted({min(window, key=samples.__getitem__), max(window, key=samples.__getitem__)})
    return [at(i) for i in kept], [samples[i] for i in kept]


def memory(view: View, row: Row) -> Chart | None:
    data: list[Chart] = []
    most = 0.0
    live_shown = False
    for name in view.names:
        run = of_middle_peak(view.records.of("memory", row.id, name))
        if run is None:
            continue
        told, look = run.data["memory"], view.looks[name]
        times, rss = thinned(told["rss"], told.get("interval") or 0.01)
        most = max(most, *rss)
        data.append(
            trace(
                name,
                look,
                mode="lines",
                x=times,
                y=rss,
                line={"width": 2, "shape": "hv"},
                hovertemplate=f"<b>{name}</b><br>RSS %{{y:.4~s}}B after %{{x:.2f}} s<extra></extra>",
            )
        )
        if told.get("live") and not live_shown:
            live_shown = True
            data.append(
                {
                    "type": "scatter",
                    "mode": "lines",
                    "name": "live bytes",
                    "x": [at for at, _ in told["live"]],
                    "y": [size for _, size in told["live"]],
                    "line": {"color": "#8a8a8a", "width": 1.5, "dash": "dot"},
                    "hovertemplate": "<b>live bytes</b><br>%{y:.4~s}B after %{x:.2f} s<extra></extra>",
                }
            )
    if not data:
        return None
    return chart(data, "Memory over time", xaxis={"title": {"text": "seconds"}, "rangemode": "tozero"}, yaxis=byte_axis(most, "RSS"))
