"""The flagship against the allocators that people use: every workload of allocation and every program, few threads and many."""

from __future__ import annotations

from polder_lab.suite.described import Field, Size

SUBJECTS = ("polder", "mimalloc2", "mimalloc3", "snmalloc", "rpmalloc", "jemalloc", "tcmalloc", "tcmalloc-google", "tbb")
THREADS = (1, 2, 8, 32)

FIELD = Field(
    "peers",
    "The peers",
    "polder and the allocators that people use, each against the best peer of each row",
    {
        "quick": Size((2,), 9.2, SUBJECTS, {}),
        "usual": Size(THREADS, 90, SUBJECTS, {}),
        "full": Size(THREADS, 540, SUBJECTS, {}, repeats=4),
    },
    frozenset({"structures"}),
)
