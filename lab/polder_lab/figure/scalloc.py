"""Figures of scalloc, OOPSLA 2015, numbered as their captions are; its text calls 7 6c and 6d, 8 7a and 7b, 10 9c and 9d."""

from __future__ import annotations

from collections.abc import Sequence

from polder_lab.figure.part import Figure, Paper, allocator_time, along, memory, memory_per_thread, only, speed_up
from polder_lab.report import units
from polder_lab.report.chart import repetitions
from polder_lab.report.chart.part import Chart, View
from polder_lab.report.records import Row, Run

PAPER = Paper(
    "scalloc",
    "Aigner, Kirsch, Lippautz, Sokolova: Fast, Multicore-Scalable, Low-Fragmentation Memory Allocation through "
    "Large Virtual Memory and Global Data Structures, OOPSLA 2015",
    "40 cores (four Xeon E7-4850)",
    40,
)
THREADS = (1, 2, 4, 8, 16)
OURS = (
    "Its rivals were Hoard, jemalloc 3.6, llalloc 1.4, ptmalloc2 2.19, Streamflow, SuperMalloc, TBB 4.3 and TCMalloc 2.1; "
    "ours are newer, or missing."
)


POINTS = "The paper has 40 threads and averages memory; ours is the peak, and a cycle allocates at most 32 MB, so that it fits."
EXPONENTS = range(4, 21, 2)
INTERVALS: Chart = {
    "title": {"text": "sizes of blocks: from here to four times as much"},
    "tickvals": list(EXPONENTS),
    "ticktext": [units.size(2**x) for x in EXPONENTS],
}


def presets(figure: str, *more: str) -> tuple[str, ...]:
    return (f"scalloc-fig{figure}", *more, f"scalloc-fig{figure}-scaled", "scalloc", "scalloc-scaled", "quick")


def program_time(view: View, rows: Sequence[Row], title: str) -> Chart | None:
    drawn = repetitions.time(view, rows[0])
    if drawn:
        drawn["layout"]["title"] = {"text": title}
    return drawn


def access(run: Run) -> float | None:
    """Time to read the objects, which the workload tells apart."""
    told = (run.data.get("figures") or {}).get("access_seconds")
    return float(told) if told else run.number("seconds")


def within(run: Run) -> float | None:
    """Time in the allocator, of all threads together."""
    return run.number("allocator_seconds") or run.number("seconds")


def peak(run: Run) -> float | None:
    return run.number("peak_rss")


TIME_BY_SIZE = along("low", INTERVALS, within, units.seconds, "seconds in the allocator")
MEMORY_BY_SIZE = along("low", INTERVALS, peak, units.size, "peak RSS", binary=True)
SPAN_POOL = ("scalloc-fig13", "scalloc-fig13-scaled")
VIRTUAL_SPANS = ("scalloc", "scalloc-no-madvise", "scalloc-no-virtual-spans", "scalloc-no-virtual-spans-no-madvise")


FIGURES = (
    Figure(
        "scalloc-5",
        PAPER,
        "5",
        "One thread: 483.xalancbmk",
        "Scalloc and several others are significantly faster than ptmalloc2; the differences among the best are small. Streamflow crashes.",
        "xalan",
        (),
        "Time of xalan",
        program_time,
        threads=(1,),
        differs="SPEC's document is not free: ours is the same engine, Xalan-C++, on a generated document, and time is plotted "
        "(less is better) "
        "where SPEC plots a score.",
    ),
    Figure(
        "scalloc-6a",
        PAPER,
        "6a",
        "Threadtest: time",
        "All allocators but jemalloc scale up to 39 threads; only the absolute performance differs. The span-pool is "
        "the fastest backend of all.",
        "threadtest",
        presets("6"),
        "Threadtest: speed-up over ptmalloc2 with one thread",
        speed_up,
        THREADS,
        differs=OURS,
    ),
    Figure(
        "scalloc-6b",
        PAPER,
        "6b",
        "Threadtest: memory",
        "With more threads less memory is used, because threads get out of step: spans that one frees serve another.",
        "threadtest",
        presets("6"),
        "Threadtest: peak memory",
        memory,
        THREADS,
        differs=OURS,
    ),
    Figure(
        "scalloc-7a",
        PAPER,
        "7a (6c in its text)",
        "Shbench: time",
        "Scalloc is faster than all others but llalloc, which uses more memory; allocators that keep memory compact are slower.",
        "shbench",
        presets("7"),
        "Shbench: speed-up over ptmalloc2 with one thread",
        speed_up,
        THREADS,
        differs=OURS,
    ),
    Figure(
        "scalloc-7b",
        PAPER,
        "7b (6d in its text)",
        "Shbench: memory",
        "Without reuse of spans scalloc would need 14.7 % more memory at 20 threads, and would not be faster.",
        "shbench",
        presets("7"),
        "Shbench: peak memory",
        memory,
        THREADS,
        differs=OURS,
    ),
    Figure(
        "scalloc-8a",
        PAPER,
        "8a (7a in its text)",
        "Larson, with threads that end: throughput",
        "All allocators scale, with different speed-ups. Without reuse of spans scalloc would be 2.7 % slower at 20 threads.",
        "larson",
        presets("8"),
        "Larson: speed-up over ptmalloc2 with one thread",
        speed_up,
        THREADS,
        differs=OURS,
    ),
    Figure(
        "scalloc-8b",
        PAPER,
        "8b (7b in its text)",
        "Larson, with threads that end: memory",
        "Who is faster uses more memory. Without reuse of spans scalloc would need 7.6 % more at 20 threads.",
        "larson",
        presets("8"),
        "Larson: peak memory",
        memory,
        THREADS,
        differs=OURS,
    ),
    Figure(
        "scalloc-9a",
        PAPER,
        "9a",
        "Producer-consumer, all share with all: time in the allocator",
        "With n threads 1 − 1/n of the frees are remote: 50 % with 2, 97.5 % with 40. Up to 30 threads scalloc and "
        "Streamflow spend the least "
        "time; above 30 scalloc alone.",
        "producer_consumer",
        presets("9"),
        "Producer-consumer: time in the allocator, per thread",
        allocator_time,
        (2, 4, 8, 16),
        differs=OURS,
    ),
    Figure(
        "scalloc-9b",
        PAPER,
        "9b",
        "Producer-consumer, all share with all: memory",
        "No allocator grows without bound; only jemalloc and ptmalloc2 need less memory than scalloc, and both need more time.",
        "producer_consumer",
        presets("9"),
        "Producer-consumer: peak memory per thread",
        memory_per_thread,
        (2, 4, 8, 16),
        differs="The paper plots average memory, ours is the peak.",
    ),
    Figure(
        "scalloc-10a",
        PAPER,
        "10a (9c in its text)",
        "Sizes from 16 bytes to 4 MB: time in the allocator",
        "Below 1 MB scalloc is faster than all others, at 40 threads; above it asks the kernel every time, which costs.",
        "object_sizes",
        ("scalloc-fig10-x",),
        "Object sizes: time in the allocator",
        TIME_BY_SIZE,
        (4,),
        sweep="low",
        differs=POINTS,
    ),
    Figure(
        "scalloc-10b",
        PAPER,
        "10b (9d in its text)",
        "Sizes from 16 bytes to 4 MB: memory",
        "For small sizes scalloc needs somewhat more than others, for its spans below 32 KB are not given back; for "
        "large ones as little as "
        "jemalloc and ptmalloc2.",
        "object_sizes",
        ("scalloc-fig10-x",),
        "Object sizes: peak memory",
        MEMORY_BY_SIZE,
        (4,),
        sweep="low",
        differs=POINTS,
    ),
    Figure(
        "scalloc-11",
        PAPER,
        "11",
        "Spatial locality: time to access memory",
        "Only jemalloc and llalloc lay blocks out so that they are read slightly faster than scalloc's. At 60 % lists "
        "L1 misses are 15.2 % under "
        "scalloc and 20.8 % under ptmalloc2, last-level loads 190.2 M and 408.5 M.",
        "spatial_locality",
        ("scalloc-fig11",),
        "Spatial locality: time",
        along("lists", {"title": {"text": "share of accesses in the order of allocation (%)"}},
              access, units.seconds, "seconds", baseline="compact"),
        (2,),
        sweep="lists",
    ),
    Figure(
        "scalloc-12a",
        PAPER,
        "12a",
        "Virtual spans: time in the allocator",
        "Up to 256 bytes giving memory back makes no difference, nor above 1 MB. With huge pages, which undo virtual "
        "spans, scalloc is slower.",
        "object_sizes",
        ("scalloc-fig10-x",),
        "Virtual spans: time in the allocator",
        only(VIRTUAL_SPANS, TIME_BY_SIZE),
        (4,),
        sweep="low",
        subjects=("scalloc", "scalloc-no-madvise"),
        differs=POINTS,
    ),
    Figure(
        "scalloc-12b",
        PAPER,
        "12b",
        "Virtual spans: memory",
        "With huge pages resident memory of small classes grows dramatically, as whole virtual spans become real.",
        "object_sizes",
        ("scalloc-fig10-x",),
        "Virtual spans: peak memory",
        only(VIRTUAL_SPANS, MEMORY_BY_SIZE),
        (4,),
        sweep="low",
        subjects=("scalloc", "scalloc-no-madvise"),
        differs=POINTS,
    ),
    Figure(
        "scalloc-13a",
        PAPER,
        "13a",
        "The span-pool with one stack: time",
        "With one stack instead of one per core scalloc does not scale: the span-pool is up to 2.7 times faster.",
        "threadtest",
        SPAN_POOL,
        "Threadtest, 256 bytes: speed-up",
        only(("scalloc", "scalloc-no-span-pool"), speed_up),
        THREADS,
        subjects=("scalloc", "scalloc-no-span-pool"),
    ),
    Figure(
        "scalloc-13b",
        PAPER,
        "13b",
        "The span-pool with one stack: memory",
        "One stack uses memory better; the span-pool costs up to 15 % more.",
        "threadtest",
        SPAN_POOL,
        "Threadtest, 256 bytes: peak memory",
        only(("scalloc", "scalloc-no-span-pool"), memory),
        THREADS,
        subjects=("scalloc", "scalloc-no-span-pool"),
    ),
    Figure(
        "scalloc-14a",
        PAPER,
        "14a (13c in its text)",
        "Spans given back in malloc instead of in free: time",
        "Both speed up nearly the same.",
        "threadtest",
        presets("14", "scalloc-fig6"),
        "Threadtest: speed-up",
        only(("scalloc", "scalloc-reclaim-in-allocation"), speed_up),
        THREADS,
        subjects=("scalloc", "scalloc-reclaim-in-allocation"),
    ),
    Figure(
        "scalloc-14b",
        PAPER,
        "14b (13d in its text)",
        "Spans given back in malloc instead of in free: memory",
        "Giving a span back in the free that empties it saves about 25 % of the memory at 39 threads.",
        "threadtest",
        presets("14", "scalloc-fig6"),
        "Threadtest: peak memory",
        only(("scalloc", "scalloc-reclaim-in-allocation"), memory),
        THREADS,
        subjects=("scalloc", "scalloc-reclaim-in-allocation"),
    ),
)
