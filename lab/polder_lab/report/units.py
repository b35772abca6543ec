"""Numbers as people read them."""

from __future__ import annotations

import math
from collections.abc import Sequence


def quantity(value: float, units: Sequence[str], step: float) -> str:
    """With three digits, in the first of the units, each step times the one before it, in which fewer than a step are left: as
    rounded, so that 999.7 ns are 1 µs and not 1e+03 ns."""
    for unit in units[:-1]:
        if float(told := digits(value)) < step:
            return f"{told} {unit}".rstrip()
        value /= step
    return f"{digits(value)} {units[-1]}"


def digits(value: float) -> str:
    return f"{value:.3g}" if value < 999.5 else f"{value:.0f}"


def seconds(value: float) -> str:
    return quantity(value * 1e9, ("ns", "µs", "ms", "s"), 1000)


def size(value: float) -> str:
    return quantity(float(f"{value:.0f}"), ("B", "KB", "MB", "GB"), 1024)


def count(value: float) -> str:
    return quantity(value, ("", "k", "M", "G"), 1000)


def several(number: int, word: str) -> str:
    """`1 round`, `2 rounds`."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def ratio(value: float) -> str:
    if 0 < value < 0.1:
        return f"{value:.2g}"
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def brief(value: float, digits: int = 5) -> float:
    """So many digits, so that the page stays small."""
    if value == 0 or not math.isfinite(value):
        return value
    return round(value, digits - 1 - math.floor(math.log10(abs(value))))
