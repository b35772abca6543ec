"""The median of one subject's own runs, with a bootstrap interval: absolute values, from which nothing is claimed."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

FEWEST_FOR_A_BOOTSTRAP = 3
RESAMPLES = 2000


@dataclass(frozen=True)
class Estimate:
    value: float
    low: float | None
    high: float | None
    repetitions: int


def median(values: Sequence[float]) -> Estimate | None:
    """With the 95 % percentiles of its resamples; the same values have the same interval each time."""
    return median_of(tuple(values))


@cache
def median_of(values: tuple[float, ...]) -> Estimate | None:
    if not values:
        return None
    middle = statistics.median(values)
    if len(values) < FEWEST_FOR_A_BOOTSTRAP:
        return Estimate(middle, None, None, len(values))
    if len(set(values)) == 1:
        return Estimate(middle, middle, middle, len(values))
    # numpy and not scipy.stats, which takes longer to load than most commands to run; here, for the same reason.
    import numpy as np

    resamples = np.random.default_rng(1).choice(np.asarray(values), (RESAMPLES, len(values)))
    low, high = np.percentile(np.median(resamples, axis=1), (2.5, 97.5))
    return Estimate(middle, float(low), float(high), len(values))
