"""Figures 4.14 to 4.16 of the thesis: how changed SuperMallocs bear the early phase of an experiment."""

from __future__ import annotations

from collections.abc import Sequence

from polder_lab.figure.part import Figure, Paper, only, position
from polder_lab.median import median
from polder_lab.report import units
from polder_lab.report.chart import over_time
from polder_lab.report.chart.part import Chart, Point, View, hover, interval, lines
from polder_lab.report.records import Row, Run

PAPER = Paper(
    "Thesis",
    "Kim: NUMA effects on memory allocation and reclamation, University of Waterloo, 2023",
    "192 logical processors (four Xeon Platinum 8160)",
    192,
)
PRESETS = ("kim-fig4.14", "kim-fig4.14-scaled", "quick")
SUPERMALLOCS = ("supermalloc", "super1", "super2", "super3", "super4")
OURS = (
    "The thesis runs an (a,b)-tree under DEBRA; ours is a set without a tree, whose deleted blocks are freed in batches. "
    "super0 is `supermalloc`."
)
TENTHS = 10


def early_phase(view: View, rows: Sequence[Row], title: str) -> Chart | None:
    """Throughput in each tenth of the time, with the most threads there are."""
    row = rows[-1]
    tenth_ms = (position(row, "milliseconds") or 0) / TENTHS

    def rate(tenth: int) -> dict[str, Point]:
        def told(run: Run) -> float | None:
            value = (run.data.get("figures") or {}).get(f"throughput_tenth_{tenth}")
            return float(value) if value is not None else None

        points = {}
        for name in view.names:
            known = median(list(view.records.by_round("time", row.id, name, told).values()))
            if known:
                until = round(tenth * tenth_ms)
                text = hover(name, f"until {until} ms", f"{units.count(known.value)} steps a second", interval(known, units.count))
                points[name] = Point(until, known, text)
        return points

    columns = [rate(tenth) for tenth in range(1, TENTHS + 1)]
    series = {name: [column[name] for column in columns if name in column] for name in view.names}
    return lines(
        view,
        series,
        title,
        {"title": {"text": "milliseconds since the set was empty"}, "rangemode": "tozero"},
        {"title": {"text": "steps per second"}, "rangemode": "tozero"},
    )


def memory(view: View, rows: Sequence[Row], title: str) -> Chart | None:
    drawn = over_time.memory(view, rows[-1])
    if drawn:
        drawn["layout"]["title"] = {"text": title}
    return drawn


FIGURES = (
    Figure(
        "thesis-4.14a",
        PAPER,
        "4.14a",
        "The variants of SuperMalloc: performance",
        "super1, super3 and super4 are faster than super0, above all in the early stage of an experiment.",
        "growing_set",
        PRESETS,
        "Growing set: throughput in each tenth of the time",
        only(SUPERMALLOCS, early_phase),
        threads=(2,),
        subjects=SUPERMALLOCS,
        differs=OURS,
    ),
    Figure(
        "thesis-4.14b",
        PAPER,
        "4.14b",
        "The variants of SuperMalloc: memory",
        "super1, super2 and super4 have the higher peak, since their global cache is filled to its half at once; it does "
        "not grow with time.",
        "growing_set",
        PRESETS,
        "Growing set: resident memory",
        only(SUPERMALLOCS, memory),
        threads=(2,),
        subjects=SUPERMALLOCS,
        differs=OURS,
    ),
    Figure(
        "thesis-4.15a",
        PAPER,
        "4.15a",
        "Against popular allocators: performance",
        "super3 and super4 keep up with the popular allocators.",
        "growing_set",
        PRESETS,
        "Growing set: throughput in each tenth of the time",
        early_phase,
        threads=(2,),
        subjects=("super3", "super4"),
        differs=f"{OURS} Its rivals were mimalloc, jemalloc, TCMalloc, Hoard and glibc.",
    ),
    Figure(
        "thesis-4.15b",
        PAPER,
        "4.15b",
        "Against popular allocators: memory",
        "super3 is competitive in peak memory too.",
        "growing_set",
        PRESETS,
        "Growing set: resident memory",
        memory,
        threads=(2,),
        subjects=("super3", "super4"),
        differs=OURS,
    ),
    Figure(
        "thesis-4.16a",
        PAPER,
        "4.16a",
        "More threads than processors: performance",
        "Mimalloc is best, followed by super3 and glibc, and then by jemalloc, Hoard and TCMalloc.",
        "growing_set",
        PRESETS,
        "Growing set, most threads: throughput in each tenth of the time",
        early_phase,
        threads=(2, 8),
        subjects=("super3",),
        differs=f"{OURS} The thesis has 240 threads on 192 logical processors.",
    ),
)
