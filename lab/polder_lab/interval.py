"""What a handful of paired runs says about a ratio.

The estimate is the Hodges-Lehmann one, exp of the median of all pairwise means of the log ratios; the interval is that
of Wilcoxon's signed-rank test, read off the same pairwise means. Why not a bootstrap: with the 6 to 20 rounds that fit
into minutes, bootstrap percentiles are too narrow. Two copies of one heap, timed with occasional outliers, were told
apart (wrongly) in 6 to 16 % of 600 trials by the bootstraps of median and geometric mean at 6 to 10 rounds; this
interval stays at 5 % whatever the distribution, because when two subjects are alike and their order is drawn by lot,
the log ratio of a pair is symmetric about zero, and that is all it assumes. One wild run moves neither end far.
The price: fewer than 6 rounds cannot give 95 % at all, and then there is no interval.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

FEWEST_ROUNDS = 6

Pairs = Mapping[int, tuple[float, float]]  # by round: a subject's and the base's


@dataclass(frozen=True)
class Share:
    value: float
    low: float
    high: float


def share(count: int, of: int) -> Share:
    """How often something happens, with Wilson's 95 % interval: it means something at the ends too."""
    from scipy import stats

    found = stats.binomtest(count, of).proportion_ci(method="wilson")
    return Share(count / of, float(found.low), float(found.high))


@dataclass(frozen=True)
class Ratio:
    """value is always there; low and high only when there were rounds enough."""

    value: float
    low: float | None
    high: float | None

    @property
    def verdict(self) -> str:
        if self.low is None or self.high is None:
            return ""
        if self.high < 1:
            return "better"
        if self.low > 1:
            return "worse"
        return "even"


def signed_rank_depth(n: int, error: float = 0.05) -> int:
    """How many of the ordered pairwise means lie outside the interval at either end, plus one; 0: no interval.

    The exact null distribution of the signed-rank sum W: every subset of the ranks 1…n is equally likely.
    """
    ways = [1]
    for rank in range(1, n + 1):
        longer = [0] * (len(ways) + rank)
        for total, count in enumerate(ways):
            longer[total] += count
            longer[total + rank] += count
        ways = longer
    allowed = error / 2 * 2**n
    outside, depth = 0, 0
    while depth < len(ways) and outside + ways[depth] <= allowed:
        outside += ways[depth]
        depth += 1
    return depth


def pairwise_means(values: Sequence[float]) -> list[float]:
    return sorted((values[i] + values[j]) / 2 for i in range(len(values)) for j in range(i, len(values)))


def paired_ratio(subject: Sequence[float], base: Sequence[float]) -> Ratio:
    """subject[i] and base[i] come from the same round."""
    if len(subject) != len(base) or not subject:
        raise ValueError("pairs needed")
    means = pairwise_means([math.log(s / b) for s, b in zip(subject, base, strict=True)])
    value = math.exp(statistics.median(means))
    depth = signed_rank_depth(len(subject))
    if depth == 0:
        return Ratio(value, None, None)
    return Ratio(value, math.exp(means[depth - 1]), math.exp(means[-depth]))


def geometric_mean(values: Sequence[float]) -> float:
    return math.exp(statistics.fmean(math.log(value) for value in values))


def ratio_of(pairs: Pairs) -> Ratio:
    return paired_ratio([a for a, _ in pairs.values()], [b for _, b in pairs.values()])


def rounds_of(rows: Sequence[Pairs]) -> list[list[float]]:
    """The ratios of all rows, a round each: of rows that have rounds in common, the rounds that all of these have. Rows that have
    none, as of several files, share no mood either, so that any round of the ones goes with any of the others."""
    apart: list[list[Pairs]] = []
    for row in rows:
        together = [one for one in apart if any(row.keys() & other.keys() for other in one)]
        apart = [*(one for one in apart if one not in together), [row, *(other for one in together for other in one)]]
    parts = []
    for one in apart:
        shared = sorted(set(one[0]).intersection(*one[1:]))
        parts.append([[row[number][0] / row[number][1] for row in one] for number in shared])
    return [[ratio for part in round_ for ratio in part] for round_ in zip(*parts, strict=False)]


def overall_ratio(rows: Sequence[Pairs]) -> Ratio:
    """The geometric mean over rows. Its value is that of the rows' own values, so that a reader can check it against
    the column. Its interval takes the round as the unit (all rows of a round share the machine's mood): one geometric
    mean a round, then the same signed-rank interval; widened to the value in the rare case that it falls outside."""
    value = geometric_mean([ratio_of(row).value for row in rows])
    by_round = [geometric_mean(ratios) for ratios in rounds_of(rows)]
    if not by_round:
        return Ratio(value, None, None)
    around = paired_ratio(by_round, [1.0] * len(by_round))
    if around.low is None or around.high is None:
        return Ratio(value, None, None)
    return Ratio(value, min(around.low, value), max(around.high, value))
