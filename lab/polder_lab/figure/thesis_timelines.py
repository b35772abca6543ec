"""Figures 3.3 to 3.16 of the thesis that are timelines, and 4.3: each recorded when it is asked for."""

from __future__ import annotations

from polder_lab.figure.recorded import Setup, Timeline
from polder_lab.figure.thesis import PAPER

JEMALLOC, TCMALLOC, SUPERMALLOC = ("jemalloc",), ("tcmalloc", "tcmalloc-google"), ("supermalloc",)
SHORT = 400  # ms, of setups that free one by one: a buffer of 100,000 events is full soon after


def under(label: str, reclaimer: str, drain: str, heaps: tuple[str, ...] = JEMALLOC, *, recorded: bool = True) -> Setup:
    return Setup(label, heaps, {"reclaimer": reclaimer, "drain": drain}, 2000 if drain == "at_once" else SHORT, recorded)


def beside(setup: Setup) -> Setup:
    """What the figure is set against, without a picture of its own."""
    return Setup(setup.label, setup.heaps, setup.settings, setup.milliseconds, recorded=False)


DEBRA = under("DEBRA, a batch at once", "debra", "at_once")
AMORTIZED = under("DEBRA, amortized", "debra", "amortized")
NAIVE = under("naive token EBR", "token-naive", "at_once")
PASS_FIRST = under("pass-first token EBR", "token-pass-first", "at_once")
PERIODIC = under("token EBR", "token-periodic", "at_once")
TOKEN = under("amortized token EBR", "token", "amortized")

CORES = (
    "Ours: eight threads on this machine's cores, a tree of half a million keys. Where threads share cores, a row's box goes on while its "
    "thread is not running, so that the longest batches are mostly the time slice of another; and no lock of the allocator is taken from "
    "another socket, which is what makes batches long in the thesis."
)
BRIEF = " Single frees fill a thread's buffer in about half a second, so it is recorded for 0.4 s, not for 5."
TURN = " With more threads than cores a token also waits for its holder to be given a core: the longest stretches without a pass are those."

FIGURES: tuple[Timeline, ...] = (
    Timeline(
        "thesis-3.3",
        PAPER,
        "3.3",
        "DEBRA: when threads free",
        "Good periods, in which all threads free small batches in a short time, and bad ones: columns of white, then batches that take "
        "long. While a thread frees a batch the epoch can change only once, so a long batch delays the next ones and makes them longer. "
        "60.77 % of the time goes into freeing.",
        (DEBRA,),
        CORES,
        zoom=True,
    ),
    Timeline(
        "thesis-3.4",
        PAPER,
        "3.4",
        "DEBRA: what is unreclaimed",
        "The number of unreclaimed objects drops sharply, and each drop comes before long delays in the timeline. 39.3 million operations "
        "a second, 60.8 % of the time in freeing.",
        (DEBRA,),
        CORES,
    ),
    Timeline(
        "thesis-3.5",
        PAPER,
        "3.5",
        "DEBRA, amortized",
        "One object an operation: nearly all long batches are gone, about as much is unreclaimed and it changes gradually, freeing takes "
        "30.6 % of the time, and there are 91.0 million operations a second, 2.3 times as many.",
        (AMORTIZED, beside(DEBRA)),
        CORES + BRIEF,
    ),
    Timeline(
        "thesis-3.6",
        PAPER,
        "3.6",
        "The same with TCMalloc",
        "Amortized freeing improves DEBRA by almost 300 percent with TCMalloc too.",
        (under("DEBRA, amortized", "debra", "amortized", TCMALLOC), under("DEBRA, a batch at once", "debra", "at_once", TCMALLOC)),
        CORES + BRIEF,
    ),
    Timeline(
        "thesis-3.9",
        PAPER,
        "3.9",
        "Naive token EBR: garbage piles up",
        "One thread frees at a time, and each has more to free than the one before. More than 90 % of the run lies in one epoch, so that "
        "more than 90 % of the garbage is never freed; only 0.6 % of the time goes into freeing. It is still faster than DEBRA.",
        (NAIVE, beside(DEBRA)),
        CORES + TURN + " Ours passes over a member that is outside an operation, so that nobody waits for a thread that idles.",
    ),
    Timeline(
        "thesis-3.11",
        PAPER,
        "3.11",
        "Pass-first token EBR",
        "Threads free at the same time. Who gets the token while it still frees holds it until it has done, so batches grow longer and "
        "unreclaimed garbage rises fast towards the end.",
        (PASS_FIRST, beside(NAIVE)),
        CORES + TURN,
    ),
    Timeline(
        "thesis-3.13",
        PAPER,
        "3.13",
        "Token EBR, which looks for the token every 100 frees",
        "Better again, but the time to free a batch still grows over the run, and unreclaimed garbage with it.",
        (PERIODIC, beside(PASS_FIRST)),
        CORES + TURN,
    ),
    Timeline(
        "thesis-3.15",
        PAPER,
        "3.15",
        "Token EBR, amortized",
        "The amount of unreclaimed objects stays stable, less time goes into freeing than with pass-first, and the timeline changes as "
        "DEBRA's does.",
        (TOKEN, beside(PERIODIC)),
        CORES + TURN + BRIEF,
    ),
    Timeline(
        "thesis-3.16",
        PAPER,
        "3.16",
        "Range queries that are slow together: pages migrate",
        "Range queries over 200,000 objects each take long all at once in some intervals: the kernel moves pages between sockets. "
        "Interleaving all memory over the nodes removes these columns and hardly changes the speed: a correlation, not the cause.",
        (Setup("range queries over 200,000 objects", JEMALLOC, {"reclaimer": "debra", "drain": "at_once", "insert": "0", "delete": "0",
                                                                "range": "100", "range_keys": "400000"}),),
        "A machine with one memory node has no pages to move. What is slow together here is what shares a core: the queries of the "
        "threads that are not running wait a time slice or several.",
        needs=("range", "range_keys"),
    ),
    Timeline(
        "thesis-4.3",
        PAPER,
        "4.3",
        "Supermalloc under DEBRA",
        "With Supermalloc a batch of frees does no harm, and freeing one object an operation does not make it faster.",
        (under("DEBRA, amortized", "debra", "amortized", SUPERMALLOC), under("DEBRA, a batch at once", "debra", "at_once", SUPERMALLOC)),
        CORES + BRIEF,
    ),
)
