"""What fields of records are, as far as a report takes it for granted; docs/design/0002-laboratory.md says what they mean.

Whatever is not named here is printed as it is, or counts where it is a number: then it is one that a chart can show.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MOST = 1e300  # what is larger, or is no number, no chart can show


@dataclass(frozen=True)
class Has:
    """An object whose fields, where they are told, have these shapes; null is as good as not told."""

    fields: Mapping[str, Shape]
    needed: Sequence[str] = ()


@dataclass(frozen=True)
class Each:
    """A list, or an object, all of whose values have this shape."""

    kind: type[list[Any]] | type[dict[str, Any]]
    shape: Shape


Shape = Callable[[Any], bool] | Has | Each


def word(told: Any) -> bool:
    return isinstance(told, str)


def number(told: Any) -> bool:
    return isinstance(told, int | float) and not isinstance(told, bool) and abs(told) <= MOST


def whole(told: Any) -> bool:
    return number(told) and isinstance(told, int)


def positive(told: Any) -> bool:
    return number(told) and told > 0


def printable(told: Any) -> bool:
    return word(told) or number(told)


def numbers(told: Any, many: int) -> bool:
    return isinstance(told, list) and len(told) == many and all(map(number, told))


def sample(told: Any) -> bool:
    return numbers(told, 2)


def bucket(told: Any) -> bool:
    return numbers(told, 3) and told[2] >= 0


LINE = Has({"label": word, "of": word, "to": word}, ("label", "of", "to"))
COMPARISON = Has(
    {"key": word, "title": word, "what": word, "measures": Each(list, word), "lines": Each(list, LINE), "threads": Each(list, whole)},
    ("key", "title", "what", "measures", "lines", "threads"),
)
SUBJECT = Has({"kind": word, "title": word, "version": printable, "year": printable, "paper": word, "summary": word, "library": word})
ROW = Has(
    {
        **dict.fromkeys(("kind", "group", "preset", "title", "what", "shows", "paper"), word),
        "threads": whole,
        "parameters": Has({}),
    }
)
SHAPES: Mapping[str, Has] = {
    "experiment": Has(
        {
            "machine": Has({}),
            "settings": Has({}),
            "subjects": Each(list, SUBJECT),
            "rows": Each(list, ROW),
            "comparisons": Each(list, COMPARISON),
        }
    ),
    "run": Has(
        {
            "latency": Each(dict, Has({"buckets": Each(list, bucket), "worst_ns": number}, ("buckets",))),
            "memory": Has({"interval": positive, "rss": Each(list, number), "live": Each(list, sample)}),
            "calls": Each(dict, number),
            "figures": Has({}),
        }
    ),
    "absent": Has({"what": word, "why": word}, ("what", "why")),
    "noise": Has({"others_share": number, "spin_spread": number}),
    "end": Has({"seconds": number}),
}


def odd(told: Any, shape: Shape, name: str) -> str:
    """What is wrong, in words: the first field that has not its shape; "" if all have."""
    if callable(shape):
        return "" if shape(told) else is_odd(name, told)
    if isinstance(shape, Each):
        if not isinstance(told, shape.kind):
            return is_odd(name, told)
        if isinstance(told, dict):
            return next((found for key, one in told.items() if (found := odd(one, shape.shape, f"{name}.{key}"))), "")
        return next((found for at, one in enumerate(told) if (found := odd(one, shape.shape, f"{name}[{at}]"))), "")
    if not isinstance(told, dict):
        return is_odd(name, told)
    if missing := next((key for key in shape.needed if told.get(key) is None), ""):
        return f"{name}.{missing} is missing"
    unnamed = ((key, value) for key, value in told.items() if key not in shape.fields and isinstance(value, float))
    if none := next((is_odd(f"{name}.{key}", value) for key, value in unnamed if not number(value)), ""):
        return none
    fields = ((key, one, told[key]) for key, one in shape.fields.items() if told.get(key) is not None)
    return next((found for key, one, value in fields if (found := odd(value, one, f"{name}.{key}"))), "")


def is_odd(name: str, told: Any) -> str:
    text = repr(told)
    return f"{name} is {text if len(text) <= 40 else text[:40] + '…'}"
