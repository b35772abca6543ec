"""Figures of several, each by round: a ratio is of the rounds that both have."""

from __future__ import annotations

import statistics
from collections.abc import Mapping

from polder_lab.interval import Ratio, paired_ratio


def of_both(one: Mapping[int, float], other: Mapping[int, float]) -> tuple[list[float], list[float]]:
    """What two have of the rounds that both have."""
    rounds = sorted(one.keys() & other.keys())
    return [one[r] for r in rounds], [other[r] for r in rounds]


def ratio(subject: Mapping[int, float], base: Mapping[int, float]) -> Ratio | None:
    """None: there is no round that both have."""
    pairs = of_both(subject, base)
    return paired_ratio(*pairs) if pairs[0] else None


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
