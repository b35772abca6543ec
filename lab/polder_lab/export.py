"""Records as a table, one line a repetition, for CSV and Parquet. What an instrument yields stays whole, as JSON text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import polars

from polder_lab.complaint import Complaint
from polder_lab.journal import Record

Unwritable = polars.exceptions.ComputeError  # what a full disk is for Parquet

NESTED = ("latency", "memory", "calls", "figures")
OF_ROW = {"name": "workload", "kind": "row_kind", "group": "group", "threads": "threads", "preset": "preset", "parameters": "parameters"}
OF_SUBJECT = {"kind": "subject_kind", "version": "subject_version"}
INTEGERS = ("round", "threads", "operations", "peak_rss", "base_rss", "minor_faults", "major_faults", "allocations", "frees",
            "remote_frees", "live_peak", "instructions")
REALS = ("at", "seconds", "wall", "user", "system", "allocator_seconds")
COLUMNS: dict[str, type[polars.DataType]] = {
    "experiment": polars.String, "at": polars.Float64, "pass": polars.String, "round": polars.Int64, "row": polars.String,
    **{column: polars.Int64 if column in INTEGERS else polars.String for column in OF_ROW.values()},
    "subject": polars.String, **{column: polars.String for column in OF_SUBJECT.values()}, "ok": polars.Boolean, "trouble": polars.String,
    **{name: polars.Float64 for name in REALS if name != "at"},
    **{name: polars.Int64 for name in INTEGERS if name not in ("round", "threads")},
    **{name: polars.String for name in NESTED},
}


def frame(records: Sequence[Record]) -> polars.DataFrame:
    experiment = records[0]
    rows = {row["id"]: row for row in experiment["rows"]}
    subjects = {subject["name"]: subject for subject in experiment["subjects"]}
    lines = []
    for run in records:
        if run["record"] == "run":
            line: dict[str, Any] = {**run, "experiment": experiment["name"]}
            line |= {column: rows.get(run["row"], {}).get(name) for name, column in OF_ROW.items()}
            line |= {column: subjects.get(run["subject"], {}).get(name) for name, column in OF_SUBJECT.items()}
            for name in (*NESTED, "parameters"):
                line[name] = json.dumps(line[name], separators=(",", ":")) if line.get(name) is not None else None
            lines.append({name: line.get(name) for name in COLUMNS})
    if not lines:
        raise Complaint(f"{experiment['name']} has no finished run")
    try:
        return polars.DataFrame(lines, schema=COLUMNS)
    except polars.exceptions.PolarsError as why:  # a name where a number belongs, say
        raise Complaint(f"the record of {experiment['name']} is damaged: {str(why).partition(';')[0]}") from why
