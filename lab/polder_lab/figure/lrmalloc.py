"""Figures 2 and 3 of LRMalloc, VECPAR 2018."""

from __future__ import annotations

from polder_lab.figure.part import Figure, Paper, seconds, throughput

PAPER = Paper(
    "LRMalloc",
    "Leite, Rocha: LRMalloc: a Modern and Competitive Lock-Free Dynamic Memory Allocator, VECPAR 2018",
    "24 cores (four Opteron 8425 HE)",
    24,
)
THREADS = (1, 2, 4, 8, 16, 32)
RIVALS = "Its rivals were Michael's allocator, NBMalloc, Hoard, ptmalloc2, jemalloc 5.0 and TCMalloc."


def presets(figure: str) -> tuple[str, ...]:
    return (f"lrmalloc-fig{figure}", f"lrmalloc-fig{figure}-scaled", "lrmalloc", "lrmalloc-scaled", "quick")


FIGURES = (
    Figure(
        "lrmalloc-2a",
        PAPER,
        "2a",
        "Linux scalability: time",
        "Only jemalloc overtakes LRMalloc as threads become many, for its arenas, four a core, hardly ever collide.",
        "linux_scalability",
        presets("2a"),
        "Linux scalability: seconds",
        seconds,
        THREADS,
        differs=RIVALS,
    ),
    Figure(
        "lrmalloc-2b",
        PAPER,
        "2b",
        "Threadtest: time",
        "LRMalloc is slightly faster than jemalloc with few threads and close behind it with many; nobody else is as fast.",
        "threadtest",
        presets("2b"),
        "Threadtest: seconds",
        seconds,
        THREADS,
        differs=RIVALS,
    ),
    Figure(
        "lrmalloc-3",
        PAPER,
        "3",
        "Larson: throughput",
        "LRMalloc does more than ten times the operations of the two other lock-free allocators, Michael's and "
        "NBMalloc, and about as many as the "
        "others; a little is lost where threads end, as their caches are flushed.",
        "larson",
        presets("3"),
        "Larson: operations per second",
        throughput,
        THREADS,
        differs=RIVALS,
    ),
)
