"""What repetitions say beside their median: percentiles out of buckets, a Pareto front."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

Buckets = Sequence[tuple[float, float, int]]  # lowest ns, highest ns, how many


def united(many: Iterable[Sequence[Sequence[float]]]) -> list[tuple[float, float, int]]:
    """The buckets of several repetitions as those of one."""
    counts: dict[tuple[float, float], int] = {}
    for buckets in many:
        for low, high, count in buckets:
            counts[(low, high)] = counts.get((low, high), 0) + int(count)
    return [(low, high, counts[(low, high)]) for low, high in sorted(counts) if counts[(low, high)]]


def enough(calls: float, share: float) -> bool:
    """For a percentile: is one of the calls beyond it? Of 31 calls 99.9 % is but the worst."""
    return share == 1 or round(calls * (1 - share), 6) >= 1


def percentile(buckets: Buckets, share: float) -> float | None:
    """In nanoseconds: the upper end of the bucket in which this share of the calls is reached, so never too little. None where the
    calls are too few."""
    total = sum(count for _, _, count in buckets)
    if not enough(total, share):
        return None
    seen = 0
    for _, high, count in buckets:
        seen += count
        if seen >= share * total:
            return high
    return None


def front(points: Mapping[str, tuple[float, float]]) -> list[str]:
    """Those that no other one beats in both, from left to right; less is better."""
    kept: list[str] = []
    lowest = float("inf")
    for name, (_, y) in sorted(points.items(), key=lambda item: item[1]):
        if y < lowest:
            kept.append(name)
            lowest = y
    return kept
