"""Allocators under the (a,b)-tree with DEBRA, for a while and for twelve times as long (the thesis's figure 4.1).

An allocator that grows in too small steps is slow until it has what the tree needs; compared with itself, it shows.
"""

from __future__ import annotations

from polder_lab.suite.described import Choices, Chosen, Comparison, Line, Size, Suite

TIMES = 12


def settings(length: str, milliseconds: int) -> Chosen:
    return {"structure": "abtree", "reclaimer": "debra", "drain": "at_once", "length": length, "milliseconds": str(milliseconds)}


def compare(_: Choices, size: Size) -> list[Comparison]:
    brief = int(size.settings["milliseconds"])
    short, long = settings("short", brief), settings("long", TIMES * brief)
    return [
        Comparison(
            "lengths",
            "Long against short",
            f"The same for {TIMES} times as long: below 1, the allocator became faster.",
            [Line("short", short, short), Line("long", long, short)],
            "lengths",
            ("time", "memory"),
        )
    ]


RIVALS = ("polder", "jemalloc", "tcmalloc", "supermalloc")

SUITE = Suite(
    "short-and-long",
    "Short and long",
    "allocators under a tree with DEBRA, for a while and for twelve times as long",
    "set",
    ("structure", "reclaimer", "length"),
    {
        "quick": Size((2, 8), 4, RIVALS, {"keys": "100000", "milliseconds": "200"}, brief=True),
        "usual": Size((1, 2, 8), 30, (*RIVALS, "super3", "mimalloc2", "tcmalloc-google"), {"keys": "1000000", "milliseconds": "500"}),
        "full": Size((1, 2, 8, 32), 540, ("all", "super3"), {"keys": "20000000", "milliseconds": "5000"}),
    },
    compare,
)
