"""Everything that was measured, as JSON: each run by itself, with the machine and the terms. Nothing is left out."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from polder_lab.heap import SYSTEM
from polder_lab.interval import Ratio, overall_ratio
from polder_lab.outcome import Outcome

SCHEMA = "polder-compare/1"


def ratio_json(ratio: Ratio | None) -> dict[str, float | str | None] | None:
    return {**asdict(ratio), "verdict": ratio.verdict} if ratio else None


def as_json(outcome: Outcome, machine: dict[str, Any], settings: dict[str, Any], left_out: list[str]) -> dict[str, Any]:
    names = [heap.name for heap in outcome.heaps]
    return {
        "schema": SCHEMA,
        "machine": machine,
        "settings": {**settings, "seed": outcome.seed, "rounds": outcome.rounds},
        "heaps": [heap.as_json() for heap in [SYSTEM, *outcome.heaps]],
        "rows": [{
            **result.row.as_json(),
            "output_varies": result.output_varies,
            "heaps": {name: {"trouble": cell.trouble or None, "runs": [run.as_json() for run in cell.runs]}
                      for name, cell in result.cells.items()},
            "ratios": {name: {metric: ratio_json(result.ratio(name, metric)) for metric in ("seconds", "peak_rss", "faults")}
                       for name in names},
        } for result in outcome.rows],
        "overall": {name: {metric: ratio_json(overall_ratio(pairs)) if (pairs := [p for r in outcome.rows if (p := r.pairs(name, metric))])
                           else None for metric in ("seconds", "peak_rss", "faults")} for name in names},
        "left_out": left_out,
        "others_share": outcome.others_share,
        "interrupted": outcome.interrupted,
        "seconds": outcome.seconds,
    }
