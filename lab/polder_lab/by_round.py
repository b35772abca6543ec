"""Figures of several, each by round: a ratio is of the rounds that both have."""

from __future__ import annotations

import statistics
from collections.abc import Mapping

from polder_lab.interval import Pairs, Ratio, ratio_of


def of_both(one: Mapping[int, float], other: Mapping[int, float]) -> Pairs:
    """What two have of the rounds that both have."""
    return {r: (one[r], other[r]) for r in sorted(one.keys() & other.keys())}


def ratio(subject: Mapping[int, float], base: Mapping[int, float]) -> Ratio | None:
    """None: there is no round that both have."""
    pairs = of_both(subject, base)
    return ratio_of(pairs) if pairs else None


def best(rounds: Mapping[str, Mapping[int, float]]) -> str | None:
    """The lowest median, unless another is ahead of it by the ratio that is shown: then that one, and so on."""
    medians = {name: statistics.median(values.values()) for name, values in rounds.items() if values}
    if not medians:
        return None
    found = min(medians, key=medians.__getitem__)
    refused: set[str] = set()
    while True:
        ahead = {name: to.value for name in medians.keys() - refused - {found} if (to := ratio(rounds[name], rounds[found]))}
        nearest = min(ahead, key=ahead.__getitem__, default=found)
        if nearest == found or ahead[nearest] >= 1:
            return found
        refused.add(found)
        found = nearest
