"""Where names stand beside their points, so that none lies on another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

LINE = 15.0  # pixels from one line of text to the next, at the size that names have
LETTER = 6.4
FONT = 11
FAR = 15  # lines; a name is no further than this from its point
ACROSS = (9.0, 26.0, 60.0, 120.0)


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """As near to `wanted` as they can be with a gap between any two, in the same order, between low and high if that is possible."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    blocks: list[list[float]] = []  # sum and number of what moves together, in coordinates where the gaps are taken off
    for rank, i in enumerate(order):
        blocks.append([wanted[i] - rank * gap, 1])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] >= blocks[-1][0] / blocks[-1][1]:
            total, number = blocks.pop()
            blocks[-1][0] += total
            blocks[-1][1] += number
    flat = [total / number for total, number in blocks for _ in range(int(number))]
    most = max(low, high - (len(wanted) - 1) * gap)
    found = [0.0] * len(wanted)
    for rank, i in enumerate(order):
        found[i] = min(max(flat[rank], low), most) + rank * gap
    return found


Box = tuple[float, float, float, float]  # left, right, top, bottom


def beside(points: Mapping[str, tuple[float, float]], width: float, height: float) -> dict[str, tuple[float, float]]:
    """For each point, in pixels from the left and from the top, how far off its name begins or ends: to the right, or to the left
    where the first is negative; the nearest place that is free of other names and points."""
    taken: list[Box] = [(x - 6, x + 6, y - 6, y + 6) for x, y in points.values()]
    found: dict[str, tuple[float, float]] = {}
    for name, (x, y) in sorted(points.items(), key=lambda item: (item[1][1], item[1][0])):
        size = LETTER * len(name) + 4

        def box(dx: float, dy: float, x: float = x, y: float = y, size: float = size) -> Box:
            left = x + dx if dx > 0 else x + dx - size
            return left, left + size, y + dy - LINE / 2, y + dy + LINE / 2

        tries = sorted(((way * dx, n * LINE / 2) for n in range(-2 * FAR, 2 * FAR + 1) for dx in ACROSS for way in (1, -1)), key=distance)
        inside = [one for one in tries if within(box(*one), (0, width, 0, height))]
        best = next((one for one in inside if not any(overlap(box(*one), other) for other in taken)), (inside or tries)[0])
        found[name] = best
        taken.append(box(*best))
    return found


def distance(offset: tuple[float, float]) -> float:
    return abs(offset[0]) + abs(offset[1])


def within(inner: Box, outer: Box) -> bool:
    return inner[0] >= outer[0] and inner[1] <= outer[1] and inner[2] >= outer[2] and inner[3] <= outer[3]


def overlap(a: Box, b: Box) -> bool:
    return a[0] < b[1] and b[0] < a[1] and a[2] < b[3] and b[2] < a[3]
