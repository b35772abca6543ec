from __future__ import annotations

import math
import random

import pytest

from polder_lab.interval import geometric_mean, overall_ratio, paired_ratio, pairwise_means, ratio_of, rounds_of, signed_rank_depth


@pytest.mark.parametrize(("rounds", "critical"), [(6, 0), (7, 2), (8, 3), (9, 5), (10, 8), (12, 13), (15, 25), (20, 52), (25, 89)])
def test_depth_is_that_of_the_printed_tables(rounds: int, critical: int) -> None:
    # Critical values of Wilcoxon's signed-rank test, two-sided 5 %, as in any textbook.
    assert signed_rank_depth(rounds) == critical + 1


@pytest.mark.parametrize("rounds", [1, 2, 3, 4, 5])
def test_too_few_rounds_give_no_interval(rounds: int) -> None:
    assert signed_rank_depth(rounds) == 0
    ratio = paired_ratio([2.0] * rounds, [1.0] * rounds)
    assert (ratio.low, ratio.high) == (None, None)
    assert ratio.value == pytest.approx(2.0)
    assert ratio.verdict == ""


def test_pairwise_means_by_hand() -> None:
    assert pairwise_means([0.0, 2.0, 6.0]) == [0.0, 1.0, 2.0, 3.0, 4.0, 6.0]


def test_an_interval_by_hand() -> None:
    # Log ratios 1…7: 28 pairwise means, the third from either end are 2 and 6, the middle is 4.
    logs = [1, 2, 3, 4, 5, 6, 7]
    ratio = paired_ratio([math.exp(x) for x in logs], [1.0] * 7)
    assert math.log(ratio.value) == pytest.approx(4)
    assert ratio.low is not None
    assert ratio.high is not None
    assert math.log(ratio.low) == pytest.approx(2)
    assert math.log(ratio.high) == pytest.approx(6)


def test_pairs_cancel_what_a_round_shares() -> None:
    mood = [1.0, 5.0, 2.0, 9.0, 3.0, 4.0, 7.0]
    ratio = paired_ratio([0.8 * m for m in mood], mood)
    for end in (ratio.value, ratio.low, ratio.high):
        assert end == pytest.approx(0.8)
    assert ratio.verdict == "better"


def test_one_wild_run_moves_little() -> None:
    calm = [1.01, 0.99, 1.0, 1.02, 0.98, 1.0, 1.01, 0.99]
    wild = [*calm[:-1], 50.0]
    assert paired_ratio(wild, [1.0] * 8).value == pytest.approx(1.0, abs=0.02)
    assert paired_ratio(wild, [1.0] * 8).verdict == "even"


def test_swapping_the_sides_inverts_everything() -> None:
    lot = random.Random(3)
    a, b = ([lot.uniform(1, 2) for _ in range(9)] for _ in range(2))
    forth, back = paired_ratio(a, b), paired_ratio(b, a)
    assert forth.low is not None
    assert back.high is not None
    assert forth.value == pytest.approx(1 / back.value)
    assert forth.low == pytest.approx(1 / back.high)


def noisy(lot: random.Random) -> float:
    """Times as they are: a little jitter, and now and then something else on the machine."""
    return math.exp(lot.gauss(0, 0.02) + (lot.expovariate(10) if lot.random() < 0.15 else 0))


@pytest.mark.parametrize("rounds", [6, 7, 10, 16])
def test_alike_is_told_apart_in_at_most_one_of_twenty(rounds: int) -> None:
    lot = random.Random(rounds)
    trials = 1000
    wrong = sum(paired_ratio([noisy(lot) for _ in range(rounds)], [noisy(lot) for _ in range(rounds)]).verdict != "even"
                for _ in range(trials))
    assert wrong <= trials * 0.065  # 5 %, and two standard errors
    assert wrong >= trials * 0.005  # an interval that is never wrong says nothing


def test_a_difference_is_found() -> None:
    lot = random.Random(5)
    found = sum(paired_ratio([0.9 * noisy(lot) for _ in range(10)], [noisy(lot) for _ in range(10)]).verdict == "better"
                for _ in range(200))
    assert found >= 180


def test_overall_is_the_geometric_mean_of_the_column() -> None:
    lot = random.Random(7)
    drawn = [([f * noisy(lot) for _ in range(8)], [noisy(lot) for _ in range(8)]) for f in (0.5, 1.0, 2.0)]
    rows = [dict(enumerate(zip(subject, base, strict=True))) for subject, base in drawn]
    overall = overall_ratio(rows)
    assert overall.value == pytest.approx(geometric_mean([ratio_of(row).value for row in rows]))
    assert overall.low is not None
    assert overall.high is not None
    assert overall.low <= overall.value <= overall.high
    assert overall.verdict == "even"


def test_a_round_of_the_mean_is_the_same_round_in_all_rows() -> None:
    """One row lacks the first round, another the third: where rounds alternate, both are at their best in the same ones."""
    alternating = {number: (1.0 + number % 2, 1.0) for number in range(10)}
    rows = [{n: pair for n, pair in alternating.items() if n != lacking} for lacking in (0, 3)]
    assert [len(set(ratios)) for ratios in rounds_of(rows)] == [1] * 8


def test_rounds_of_a_mean_are_those_that_all_rows_of_a_file_have() -> None:
    first = {number: (1.0, 1.0) for number in range(10)}
    second = {1_000_000 + number: (2.0 + number, 1.0) for number in range(8)}
    both = {**first, **{number: (2.0 + number - 1_000_000, 1.0) for number in second}}
    assert rounds_of([second, both]) == [[2.0 + number] * 2 for number in range(8)], "the second file's rounds, not the first's"
    assert [sorted(ratios) for ratios in rounds_of([first, second])] == [[1.0, 2.0 + number] for number in range(8)], "nothing in common"
    apart = overall_ratio([first, both, second])
    assert (apart.low, apart.high) == (None, None), "no round has all three"


def test_rows_that_share_the_mood_of_a_round_do_not_narrow_the_interval_by_being_shifted() -> None:
    """Two copies of one heap, and the order within a round moves all rows of it alike."""
    lot, wrong = random.Random(5), 0
    for _ in range(400):
        moods = [math.exp(lot.gauss(0, 0.2)) for _ in range(11)]
        rows = [{n: (moods[n] * math.exp(lot.gauss(0, 0.01)), 1.0) for n in range(11) if n != lacking} for lacking in (0, 0, 10, 10)]
        wrong += overall_ratio(rows).verdict != "even"
    assert wrong <= 400 * 0.08


def test_unpaired_runs_are_refused() -> None:
    with pytest.raises(ValueError, match="pairs"):
        paired_ratio([1.0], [1.0, 2.0])
