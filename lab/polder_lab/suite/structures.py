"""Queues, stacks, deques and pools against each other and against other libraries', over the workload `hand_over`.

A row says structure, reclaimer and memory. The measure of a queue is the Michael-Scott queue, that of a stack Treiber's, both
under DEBRA; that of reclamation the same structure in memory that is never freed, as Scal has it. How far from its order
elements come out of a structure is looked at in a pass of its own.
"""

from __future__ import annotations

from collections.abc import Callable

from polder_lab.instrument import QUALITY
from polder_lab.structure import Entry, told
from polder_lab.suite.described import Choices, Chosen, Comparison, Line, Size, Suite

QUEUE, STACK = "ms-queue", "treiber-stack"
LOOSE = ("libcds-segmented-queue", "moodycamel-queue")  # rivals that are no strict queues
MEASURES = ("time", "lateness", "k")
OWN = "own"  # what a rival's structure brings
RIVALS = {
    "libcds-": "libcds's structures (apt-get install libcds-dev)",
    "tbb-": "oneTBB's queues (apt-get install libtbb-dev)",
    "boost-": "Boost.Lockfree (apt-get install libboost-dev)",
    "moodycamel-": "moodycamel's queue (apt-get install libconcurrentqueue-dev)",
    "ck-": "Concurrency Kit (apt-get install libck-dev liburcu-dev)",
    "urcu-": "liburcu's queues and stacks (apt-get install libck-dev liburcu-dev)",
}


def settings(structure: str, reclaimer: str = "debra", memory: str = "heap") -> Chosen:
    return {"structure": structure, "reclaimer": reclaimer, "memory": memory}


def is_rival(structure: str) -> bool:
    return structure.startswith(tuple(RIVALS))


def usual(structure: str) -> Chosen:
    return settings(structure, OWN if is_rival(structure) else "debra")


def goes(choices: Choices, structure: str) -> bool:
    return not choices.refuses(usual(structure))


def compare(choices: Choices, _: Size) -> list[Comparison]:
    known = {entry["name"]: entry for entry in told(choices.place, "structures")}
    there = [one for one in choices.of("structure") if goes(choices, one)]
    rivals = [one for one in there if is_rival(one)]

    def ours(wanted: Callable[[Entry], bool]) -> list[str]:
        return [one for one in there if one in known and wanted(known[one])]

    def strict(entry: Entry) -> bool:
        return str(entry["order"]) == "linearizable"

    def against(base: str, names: list[str]) -> list[Line]:
        return [Line(one, usual(one), usual(base)) for one in names]

    def shaped(shape: str, is_strict: bool) -> list[str]:
        return ours(lambda entry: entry["shape"] == shape and strict(entry) == is_strict)

    stacks = [one for one in rivals if "stack" in one]
    loose = [one for one in rivals if one in LOOSE]
    queues = [one for one in rivals if one not in (*stacks, *loose)]
    reclaimed = [one for one in ours(lambda entry: entry["needs"] != "none")
                 if not choices.refuses(settings(one, "leaky", "preallocated"))]
    found = [
        Comparison("queues", "Strict queues", "First in, first out; ours and the rivals that were built, against the Michael-Scott queue.",
                   against(QUEUE, [*shaped("queue", True), *queues]), "queues", MEASURES),
        Comparison("relaxed-queues", "Relaxed queues", "They may let elements overtake each other; against the Michael-Scott queue.",
                   against(QUEUE, [*shaped("queue", False), *loose]), "queues", MEASURES),
        Comparison("stacks", "Strict stacks", "Last in, first out; ours and the rivals that were built, against Treiber's stack.",
                   against(STACK, [*shaped("stack", True), *stacks]), "stacks", MEASURES),
        Comparison("relaxed-stacks", "Relaxed stacks", "They may let elements overtake each other; against Treiber's stack.",
                   against(STACK, shaped("stack", False)), "stacks", MEASURES),
        Comparison("pools", "Deques and pools", "Elements in any order, or from both ends; against the Michael-Scott queue.",
                   against(QUEUE, ours(lambda entry: entry["shape"] in ("deque", "pool"))), "queues", MEASURES),
        Comparison("reclaimed", "Reclamation", "Under DEBRA and the heap; against memory that is never freed, as in Scal.",
                   [Line(one, usual(one), settings(one, "leaky", "preallocated")) for one in reclaimed], "reclaimed", brief="fewest"),
    ]
    return [one for one in found if one.lines]


def absent(choices: Choices) -> list[str]:
    return [f"{what}: not built" for prefix, what in RIVALS.items() if not any(s.startswith(prefix) for s in choices.of("structure"))]


SUITE = Suite(
    "structures",
    "Structures",
    "queues, stacks, deques and pools against each other and against other libraries'",
    "hand_over",
    ("structure", "reclaimer", "memory"),
    {
        "quick": Size((2, 8), 6, ("polder",), {"elements": "60000", "work": "250"}, brief=True),
        "usual": Size((1, 2, 8, 32), 60, ("polder", "jemalloc"), {"elements": "400000", "work": "250", "timed": "64"}),
        "full": Size((1, 2, 8, 32), 540, ("all",), {"elements": "4000000", "work": "250", "timed": "64"}),
    },
    compare,
    absent,
    ("time", QUALITY),
    lambda chosen: frozenset({QUALITY} if chosen["memory"] == "preallocated" else ()),
    by_threads=True,
)
