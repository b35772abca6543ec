"""A mean over fewer rows than the ones beside it says so: a mark at the number, and below the table a line that counts."""

from __future__ import annotations

from collections.abc import Mapping

MARK = "*"


def explained(rows: Mapping[str, int], of: int) -> str:
    """Who has fewer rows than there are."""
    lacking = [f"{name} {count} of {of}" for name, count in rows.items() if count < of]
    return f"{MARK} Not over all rows, since some failed or were not measured: {', '.join(lacking)}." if lacking else ""
