"""Figure 8 and table 1 of Michael, PLDI 2004: speed-up over the C library's malloc of one thread without contention."""

from __future__ import annotations

from polder_lab.figure.part import Figure, Paper, memory, speed_up

PAPER = Paper("Michael", "Michael: Scalable Lock-Free Dynamic Memory Allocation, PLDI 2004", "16 processors (375 MHz POWER3-II)", 16)
THREADS = (1, 2, 4, 8, 16)
RIVALS = "Its rivals were AIX's libc, Hoard 3.0.2 and Ptmalloc2 of 2002, with locks made faster by hand."


def presets(part: str, *more: str) -> tuple[str, ...]:
    return (f"michael-fig8{part}", *more, f"michael-fig8{part}-scaled", "michael", "michael-scaled", "quick")


FIGURES = (
    Figure(
        "michael-8a",
        PAPER,
        "8a",
        "Linux scalability",
        "The new allocator, Ptmalloc and Hoard scale, with slopes that follow their latency; libc drops to 0.4 on two "
        "processors, and on 16 takes "
        "331 times as long as the new one.",
        "linux_scalability",
        presets("a"),
        "Linux scalability: speed-up over libc with one thread",
        speed_up,
        THREADS,
        differs=RIVALS,
    ),
    Figure(
        "michael-8b",
        PAPER,
        "8b",
        "Threadtest",
        "The new allocator and Hoard scale in proportion to their latency; Ptmalloc less, as threads take over each other's arenas.",
        "threadtest",
        presets("b"),
        "Threadtest: speed-up over libc with one thread",
        speed_up,
        THREADS,
        differs=RIVALS,
    ),
    Figure(
        "michael-8c",
        PAPER,
        "8c",
        "Active false sharing",
        "Latency hardly matters here. The new allocator and Hoard are less likely to put blocks of two threads into "
        "one line than Ptmalloc and libc.",
        "active_false",
        presets("c"),
        "Active-false: speed-up over libc with one thread",
        speed_up,
        THREADS,
        differs=RIVALS,
    ),
    Figure(
        "michael-8d",
        PAPER,
        "8d",
        "Passive false sharing",
        "As 8c, with blocks that were handed over before: the new allocator and Hoard induce less false sharing than Ptmalloc and libc.",
        "passive_false",
        presets("d"),
        "Passive-false: speed-up over libc with one thread",
        speed_up,
        THREADS,
        differs=RIVALS,
    ),
    Figure(
        "michael-8e",
        PAPER,
        "8e",
        "Larson",
        "The new allocator and Hoard scale, Ptmalloc does not: its threads change arenas all the time and make 22 of them for 16 threads.",
        "larson",
        presets("e"),
        "Larson: speed-up over libc with one thread",
        speed_up,
        THREADS,
        differs=RIVALS,
    ),
    *(
        Figure(
            f"michael-8{part}",
            PAPER,
            f"8{part}",
            f"Lock-free producer-consumer, work {work}",
            statement,
            "lock_free_producer_consumer",
            presets(part, f"michael-{work}"),
            f"Producer-consumer, work {work}: speed-up over libc with one thread",
            speed_up,
            THREADS,
            differs=RIVALS,
        )
        for part, work, statement in (
            (
                "f",
                500,
                "The new allocator scales perfectly up to 13 processors; beyond, the producer cannot keep up. Hoard "
                "suffers, since 75 % of all "
                "mallocs and frees are aimed at one heap.",
            ),
            ("g", 750, "The new allocator scales perfectly. Ptmalloc scales less, and keeps creating arenas; Hoard suffers most."),
            ("h", 1000, "The new allocator scales perfectly. Ptmalloc scales less, and keeps creating arenas; Hoard suffers most."),
        )
    ),
    *(
        Figure(
            f"michael-table1{short}",
            PAPER,
            "table 1",
            f"Without contention: {title}",
            f"Speed-up over libc on POWER3 and POWER4: new {new}, Hoard {hoard}, Ptmalloc {ptmalloc}.",
            workload,
            presets(part),
            f"{title}: speed-up over libc, one thread first",
            speed_up,
            (1, 2),
            differs="The table is the leftmost point of ours.",
        )
        for short, title, workload, part, new, hoard, ptmalloc in (
            ("a", "Linux scalability", "linux_scalability", "a", "2.25 and 2.75", "1.11 and 1.38", "1.83 and 1.92"),
            ("b", "Threadtest", "threadtest", "b", "2.18 and 2.35", "1.20 and 1.23", "1.94 and 1.97"),
            ("c", "Larson", "larson", "e", "2.90 and 2.95", "2.22 and 2.37", "2.53 and 2.67"),
        )
    ),
    *(
        Figure(
            f"michael-space-{short}",
            PAPER,
            "section 4.2.5",
            f"Most memory used: {title}",
            statement,
            workload,
            presets(part),
            f"{title}: peak memory",
            memory,
            THREADS,
            differs="The paper gives this in words, without a figure.",
        )
        for short, title, workload, part, statement in (
            (
                "threadtest",
                "Threadtest",
                "threadtest",
                "b",
                "The new allocator always uses slightly less than Hoard; Ptmalloc 1.16 times as much on 16 processors.",
            ),
            (
                "larson",
                "Larson",
                "larson",
                "e",
                "The new allocator always uses slightly less than Hoard; Ptmalloc 3.83 times as much on 16 processors.",
            ),
        )
    ),
)
