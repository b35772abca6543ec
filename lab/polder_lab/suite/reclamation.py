"""Reclaimers, drains and structures against each other, over the workload `set`.

Every row says structure, reclaimer and drain. The measure of a reclaimer is DEBRA, that of a drain freeing at once, that of
a rival's structure ours of the same kind. The (a,b)-tree takes every reclaimer; a combination that the workload refuses is
named and left out.
"""

from __future__ import annotations

from polder_lab.suite.described import Choices, Chosen, Comparison, Line, Size, Suite

TREE, TABLE = "abtree", "hash-map"
BASE, AT_ONCE, AMORTIZED = "debra", "at_once", "amortized"
OWN = "own"  # what a rival's structure brings
TOKEN, PASS_FIRST = "token", "token-pass-first"
RIVALS = {"libcds-": "libcds's structures (apt-get install libcds-dev)", "tbb-": "oneTBB's structures (apt-get install libtbb-dev)"}
# How names of hash tables are told from those of ordered maps.
UNORDERED = ("hash", "michael", "split", "feldman", "cuckoo", "striped", "unordered")
TOO_SLOW = "list-set"  # walks half of all keys in an operation


def settings(structure: str, reclaimer: str = BASE, drain: str = AT_ONCE) -> Chosen:
    return {"structure": structure, "reclaimer": reclaimer, "drain": drain}


def usual(reclaimer: str) -> Chosen:
    """The last step of token EBR is to amortize; every other scheme frees at once unless told otherwise."""
    return settings(TREE, reclaimer, AMORTIZED if reclaimer == TOKEN else AT_ONCE)


def amortized(reclaimer: str) -> Line:
    return Line(reclaimer, settings(TREE, reclaimer, AMORTIZED), settings(TREE, PASS_FIRST if reclaimer == TOKEN else reclaimer))


def goes(choices: Choices, structure: str, reclaimer: str) -> bool:
    return not choices.refuses({"structure": structure, "reclaimer": reclaimer})


def is_ordered(structure: str) -> bool:
    return not any(word in structure for word in UNORDERED)


def under(choices: Choices, structure: str) -> Chosen | None:
    """The structure under DEBRA, or under the first reclaimer that it takes: rivals may bring their own."""
    known = choices.of("reclaimer")
    found = next((one for one in (BASE, *known) if one in known and goes(choices, structure, one)), None)
    return settings(structure, found) if found else None


def compare(choices: Choices, size: Size) -> list[Comparison]:
    reclaimers = [one for one in choices.of("reclaimer") if goes(choices, TREE, one)]
    structures = [one for one in choices.of("structure") if one != TOO_SLOW]
    tree = settings(TREE)
    found = [
        Comparison(
            "reclaimers",
            "Reclaimers on the (a,b)-tree",
            "Each frees what is safe at once, but token, which amortizes; against DEBRA.",
            [Line(one, usual(one), tree) for one in reclaimers],
            "trees",
            ("time", "garbage"),
        ),
        Comparison(
            "drains",
            "Drains on the (a,b)-tree under DEBRA",
            "How what is safe is freed; against freeing a batch at once.",
            [Line(one, settings(TREE, drain=one), tree) for one in choices.of("drain")],
            "trees",
            ("time", "operation-99.9", "garbage"),
        ),
        Comparison(
            "amortized",
            "Amortized freeing under every reclaimer",
            "One object an operation, against the same reclaimer freeing at once; token against token-pass-first.",
            [amortized(one) for one in reclaimers if one not in ("leaky", BASE)],
            "trees",
            ("time", "operation-99.9"),
            brief="most",
        ),
        Comparison(
            "leaking",
            "Reclaiming nothing",
            "What reclamation costs a structure: without it, against DEBRA.",
            [Line(one, settings(one, "leaky"), settings(one)) for one in (TREE, "occ-avl")
             if "leaky" in choices.of("reclaimer") and one in structures and goes(choices, one, "leaky")],
            "trees",
            ("time", "memory"),
        ),
        Comparison(
            "ordered",
            "Ordered maps",
            "Ours and the rivals that were built, under DEBRA or what they bring; against the (a,b)-tree.",
            [Line(one, chosen, tree) for one in structures if is_ordered(one) and (chosen := under(choices, one))],
            "trees",
            brief="fewest",
        ),
        Comparison(
            "tables",
            "Hash tables",
            "Ours and the rivals that were built, under DEBRA or what they bring; against ours.",
            [Line(one, chosen, settings(TABLE)) for one in structures if not is_ordered(one) and (chosen := under(choices, one))],
            "tables",
            brief="fewest",
        ),
    ]
    return [one for one in found if one.lines]


def absent(choices: Choices) -> list[str]:
    told = [f"{what}: not built" for prefix, what in RIVALS.items() if not any(s.startswith(prefix) for s in choices.of("structure"))]
    told += [f"{TREE} under {one}: {why}" for one in choices.of("reclaimer")
             if one != OWN and (why := choices.refuses({"structure": TREE, "reclaimer": one}))]
    return told


FEW = ("polder", "jemalloc")
MORE = (*FEW, "mimalloc2", "tcmalloc", "tcmalloc-google", "tbb")

SUITE = Suite(
    "reclamation",
    "Reclamation",
    "reclaimers, drains and structures against each other, under several allocators",
    "set",
    ("structure", "reclaimer", "drain"),
    {
        "quick": Size((2, 8), 5.2, FEW, {"keys": "100000", "milliseconds": "100", "timed": "64"}, brief=True, repeats=1),
        "usual": Size((1, 2, 8, 32), 60, MORE, {"keys": "200000", "milliseconds": "300", "timed": "64"}),
        "full": Size((1, 2, 8, 32), 540, ("all",), {"keys": "2000000", "milliseconds": "1000", "timed": "64"}),
    },
    compare,
    absent,
    ("time", "frees"),
)
