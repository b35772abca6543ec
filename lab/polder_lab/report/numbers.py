"""The charts of a row in numbers."""

from __future__ import annotations

from polder_lab.by_round import ratio
from polder_lab.median import median
from polder_lab.report import units
from polder_lab.report.chart import latency, repetitions
from polder_lab.report.chart.part import View
from polder_lab.report.estimate import percentile
from polder_lab.report.records import Row


def table(view: View, row: Row) -> list[dict[str, str]]:
    """The charts in numbers; what was not measured is an empty cell, and a column without any cell is not shown."""
    records, lines = view.records, []
    value, what = repetitions.time_of(view, row)
    base = records.by_round("time", row.id, "system", lambda run: run.cost)
    for name in view.names:
        line = {"subject": name}
        if trouble := records.trouble(row.id, name):
            line["trouble"] = trouble
        rounds = records.by_round("time", row.id, name, value)
        if known := median(list(rounds.values())):
            line[what] = units.seconds(known.value)
            line["95 %"] = (
                f"{units.seconds(known.low)} – {units.seconds(known.high)}" if known.low is not None and known.high is not None else ""
            )
        found = ratio(records.by_round("time", row.id, name, lambda run: run.cost), base)
        if found and name != "system":
            line["to system"] = units.ratio(found.value)
            line["95 % of it"] = (
                f"{units.ratio(found.low)} – {units.ratio(found.high)}" if found.low is not None and found.high is not None else ""
            )
        for title, key, form in (
            ("user", "user", units.seconds),
            ("in the kernel", "system", units.seconds),
            ("peak RSS", "peak_rss", units.size),
            ("live peak", "live_peak", units.size),
            ("in the allocator", "allocator_seconds", units.seconds),
        ):
            if known := median([v for run in records.of("time", row.id, name) if (v := run.number(key)) is not None]):
                line[title] = form(known.value)
        if known := median(list(records.by_round("time", row.id, name, lambda run: run.faults).values())):
            line["faults"] = units.count(known.value)
        if known := median(
            [sum(run.data["calls"].values()) for run in records.of("calls", row.id, name) if run.data.get("calls")]
        ):
            line["system calls"] = units.count(known.value)
        if known := median([v for run in records.of("instructions", row.id, name) if (v := run.number("instructions"))]):
            line["instructions"] = units.count(known.value)
        for figure in dict.fromkeys(key for run in records.of("time", row.id, name) for key in run.data.get("figures") or {}):
            told = [
                float(counted)
                for run in records.of("time", row.id, name)
                if isinstance(counted := (run.data.get("figures") or {}).get(figure), int | float)
            ]
            if known := median(told):
                line[figure.replace("_", " ")] = units.count(known.value)
        buckets, worst = latency.sampled(view, row, name, "malloc")
        for title, share in (("malloc 50 %", 0.5), ("99 %", 0.99), ("99.99 %", 0.9999)):
            if at := percentile(buckets, share):
                line[title] = units.seconds(at * 1e-9)
        if buckets:
            line["worst"] = units.seconds(worst * 1e-9)
        if len(line) > 1:
            lines.append(line)
    columns = [*dict.fromkeys(key for line in lines for key in line if key != "trouble")]
    return [{**{key: line.get(key, "") for key in columns}, "trouble": line.get("trouble", "")} for line in lines]
