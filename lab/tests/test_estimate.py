"""Medians, percentiles out of buckets, the Pareto front."""

from __future__ import annotations

import math
import random

import pytest

from polder_lab import trace_table
from polder_lab.median import median
from polder_lab.report import units
from polder_lab.report.chart.latency import exceeding
from polder_lab.report.chart.over_time import MOST_POINTS, thinned
from polder_lab.report.estimate import front, percentile, united


def test_a_median_lies_in_its_interval() -> None:
    lot = random.Random(3)
    found = median([lot.gauss(10, 1) for _ in range(20)])
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.value < found.high
    assert 9 < found.low < found.high < 11


def test_five_repetitions_have_no_interval_and_none_no_median() -> None:
    five = median([1.0, 9.0, 3.0, 2.0, 8.0])
    assert five is not None
    assert (five.value, five.low, five.high) == (3.0, None, None)
    assert median([]) is None


@pytest.mark.parametrize("runs", [3, 4, 5, 6, 8, 9, 14, 20])
def test_an_interval_of_95_percent_holds_the_true_median_that_often(runs: int) -> None:
    """All 2^n ways in which n runs lie above and below it are equally likely."""
    missed = 0
    for above in range(runs + 1):
        found = median([-1.0] * (runs - above) + [1.0] * above)
        assert found is not None
        if found.low is not None and found.high is not None and not found.low <= 0 <= found.high:
            missed += math.comb(runs, above)
    assert missed <= 0.05 * 2**runs


def test_a_percentile_is_never_too_small() -> None:
    values = sorted(random.Random(5).randrange(8, 4000) for _ in range(1000))
    buckets = united([[[v // 16 * 16, v // 16 * 16 + 16, 1]] for v in values])
    assert sum(count for _, _, count in buckets) == 1000
    for share in (0.5, 0.9, 0.99, 0.999, 1.0):
        exact = values[round(share * 1000) - 1]
        told = percentile(buckets, share)
        assert told is not None
        assert exact <= told <= exact + 16


@pytest.mark.parametrize(("share", "calls"), [(0.5, 2), (0.99, 100), (0.999, 1000), (0.9999, 10_000)])
def test_a_percentile_takes_so_many_calls_that_one_is_beyond_it(share: float, calls: int) -> None:
    assert percentile([(1, 2, calls - 1)], share) is None
    assert percentile([(1, 2, calls)], share) == 2


def test_the_share_that_takes_longer_falls() -> None:
    assert exceeding([(0, 10, 90), (10, 20, 9), (20, 40, 1)]) == [(10, 0.1), (20, 0.01)]


def test_the_front_has_nobody_who_is_beaten() -> None:
    assert front({"fast": (1, 9), "both": (2, 3), "beaten": (3, 4), "same time": (2, 5), "small": (5, 1)}) == ["fast", "both", "small"]


def test_a_long_series_keeps_its_extremes() -> None:
    samples = [float(i % 97) for i in range(100_000)]
    samples[55_555] = 1e9
    times, kept = thinned(samples, 0.01)
    assert len(kept) <= MOST_POINTS + 2
    assert max(kept) == 1e9
    assert times[kept.index(1e9)] == pytest.approx(555.56)
    assert thinned([1.0, 2.0], 0.01) == ([0.01, 0.02], [1.0, 2.0]), "the sampler first looks after one interval"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (units.seconds(1.5), "1.5 s"),
        (units.seconds(0.0123), "12.3 ms"),
        (units.seconds(4.2e-8), "42 ns"),
        (units.seconds(9.997e-7), "1 µs"),
        (units.seconds(9.99e-7), "999 ns"),
        (units.seconds(0.99996), "1 s"),
        (units.seconds(1234.0), "1234 s"),
        (units.seconds(0.0), "0 ns"),
        (units.size(3 << 20), "3 MB"),
        (units.size(1010 << 10), "1010 KB"),
        (units.size((1 << 20) - 100), "1 MB"),
        (units.size(1e15), "931323 GB"),
        (units.count(999_900), "1 M"),
        (units.count(7), "7"),
        (trace_table.size(1010 << 10), "1010 KiB"),
        (trace_table.duration(999.7), "1 µs"),
        (units.size(900), "900 B"),
        (units.count(12_345), "12.3 k"),
        (units.ratio(1.0), "1.00"),
        (units.ratio(250.0), "250"),
    ],
)
def test_units(said: str, told: str) -> None:
    assert said == told
