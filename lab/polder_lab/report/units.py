"""Numbers as people read them."""

from __future__ import annotations

import math


def seconds(value: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


def size(value: float) -> str:
    for unit, factor in (("GB", 2**30), ("MB", 2**20), ("KB", 2**10)):
        if value >= factor:
            return f"{value / factor:.3g} {unit}" if value < 1000 * factor else f"{value / factor:.0f} {unit}"
    return f"{value:.0f} B"


def count(value: float) -> str:
    for unit, factor in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= factor:
            return f"{value / factor:.3g} {unit}"
    return f"{value:.3g}"


def ratio(value: float) -> str:
    if 0 < value < 0.1:
        return f"{value:.2g}"
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def brief(value: float, digits: int = 5) -> float:
    """So many digits, so that the page stays small."""
    if value == 0 or not math.isfinite(value):
        return value
    return round(value, digits - 1 - math.floor(math.log10(abs(value))))
