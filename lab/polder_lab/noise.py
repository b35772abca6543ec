"""Is the machine quiet enough? A glance that takes a tenth of a second: how much of it others have used since the last
one, and by how much the times of a fixed piece of work differ."""

from __future__ import annotations

import hashlib
import statistics
import time
from dataclasses import dataclass

from polder_lab.machine import Quiet

PIECES = 40
PIECE = bytes(1 << 20)
OTHERS_LIMIT = 0.05
SPREAD_LIMIT = 0.1


@dataclass(frozen=True)
class Noise:
    others_share: float  # of the machine
    spin_spread: float  # the middle four fifths of the times, over their median

    @property
    def warning(self) -> str:
        found = []
        if self.others_share > OTHERS_LIMIT:
            found.append(f"other processes use {self.others_share:.0%} of the machine")
        if self.spin_spread > SPREAD_LIMIT:
            found.append(f"the same work takes times that differ by {self.spin_spread:.0%}")
        return "; ".join(found)


def glance(since: Quiet) -> Noise:
    times = []
    for _ in range(PIECES):
        start = time.perf_counter()
        hashlib.sha256(PIECE).digest()
        times.append(time.perf_counter() - start)
    tenths = statistics.quantiles(times, n=10)
    return Noise(since.others_share(), (tenths[-1] - tenths[0]) / statistics.median(times))
