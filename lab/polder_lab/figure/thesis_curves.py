"""Figures 3.1 to 3.14 of the thesis that are curves, and 4.1's: reclaimers and allocators against threads."""

from __future__ import annotations

from polder_lab.figure.curves import Curves, Variant
from polder_lab.figure.part import Figure
from polder_lab.figure.thesis import PAPER

THREADS = (1, 2, 8, 32)
JEMALLOC, TCMALLOC = ("jemalloc",), ("tcmalloc", "tcmalloc-google")


def variant(label: str, structure: str, reclaimer: str, drain: str = "at_once") -> Variant:
    return Variant(label, f"{structure}.{reclaimer}.{drain}")


TREE = "(a,b)-tree"
DEBRA = variant("DEBRA", "abtree", "debra")
NAIVE = variant("naive token", "abtree", "token-naive")
PASS_FIRST = variant("pass-first", "abtree", "token-pass-first")
PERIODIC = variant("token", "abtree", "token-periodic")
AMORTIZED = variant("amortized token", "abtree", "token", "amortized")


def curves(number: str, caption: str, statement: str, groups: tuple[tuple[str, tuple[Variant, ...]], ...], wanted: tuple[str, ...],
           differs: str = "") -> Figure:
    return Curves(f"thesis-{number}", PAPER, number, caption, statement, "set", (), caption, lambda *_: None, THREADS, differs=differs,
                  groups=groups, wanted=wanted)


FIGURES: tuple[Figure, ...] = (
    curves(
        "3.1",
        "Two trees under DEBRA, and leaking",
        "Both trees scale to 48 threads; under DEBRA the (a,b)-tree, which takes one or two nodes of 240 bytes an update, stops scaling "
        "above 96, the AVL tree with its 64 bytes an insertion goes on. Their peak memory is much alike. Leaking brings both near to "
        "linear, so memory management is what holds them back.",
        (("DEBRA", (variant(TREE, "abtree", "debra"), variant("AVL tree", "occ-avl", "debra"))),
         ("leaking", (variant(TREE, "abtree", "leaky"), variant("AVL tree", "occ-avl", "leaky")))),
        JEMALLOC,
        "On two cores leaking wins little or nothing: the memory that is never reused must be faulted in, and no lock of the allocator is "
        "held in another socket.",
    ),
    curves(
        "3.2",
        "The (a,b)-tree under DEBRA with TCMalloc",
        "With TCMalloc it scales to two sockets and falls off beyond, as with jemalloc: the trouble is not one allocator's.",
        (("", (DEBRA,)),),
        TCMALLOC,
    ),
    curves(
        "3.8",
        "Token EBR, naive",
        "Does not perform well with jemalloc, and yet is substantially faster than DEBRA, because it hardly frees: its peak memory is "
        "enormous.",
        (("", (NAIVE, DEBRA)),),
        JEMALLOC,
        "Garbage piles up while one thread frees and all others wait for the token. On two cores at most one other runs meanwhile, so "
        "that less piles up: thesis-3.9 has it in numbers.",
    ),
    curves(
        "3.10",
        "Token EBR, pass first",
        "Faster than the naive one and less prone to garbage that piles up, but it still piles up with many threads.",
        (("", (PASS_FIRST, NAIVE)),),
        JEMALLOC,
    ),
    curves(
        "3.12",
        "Token EBR, which looks for the token every 100 frees",
        "Faster than pass first and with less garbage; with 190 threads on four sockets it still drops, and its memory rises.",
        (("", (PERIODIC, PASS_FIRST)),),
        JEMALLOC,
        "In the thesis's published code this step frees its whole bag before it looks, and so does as pass first does; ours looks.",
    ),
    curves(
        "3.14",
        "Token EBR, amortized",
        "Amortized freeing improves speed and peak memory of token EBR greatly, as it does DEBRA's: the technique is a general one.",
        (("", (AMORTIZED, PERIODIC)),),
        JEMALLOC,
    ),
    Curves(
        "thesis-4.1",
        PAPER,
        "4.1",
        "Allocators under the (a,b)-tree with DEBRA, for 5 and for 60 seconds",
        "Hoard is the fastest; jemalloc and TCMalloc are good in one socket and poor beyond two. Supermalloc is the slowest by far in 5 "
        "seconds, and fast in 60.",
        "set",
        (),
        "Short and long",
        lambda *_: None,
        THREADS[:3],
        groups=(("short", (Variant("short", "abtree.debra.short"),)),
                ("long", (Variant("long", "abtree.debra.long"),))),
        suite="short-and-long",
        differs="Hoard is not among our allocators. Long is twelve times short, as 60 s are of 5. The slow start itself: thesis-4.14a.",
    ),
)
