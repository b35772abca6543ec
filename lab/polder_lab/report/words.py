"""What the head of the page says: what was measured, where, and what may be wrong with it."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence

from polder_lab.noise import OTHERS_LIMIT, SPREAD_LIMIT
from polder_lab.report import matrix, units
from polder_lab.report.records import Records, Row


def standing(found: matrix.Matrix | None) -> list[tuple[str, str]]:
    """Subjects measured in every row, the best first, with their geometric means."""
    if found is None:
        return []
    return [(name, units.ratio(r.value)) for name, r in sorted(found.overall.items(), key=lambda item: item[1].value)]


def before_the_phase(records: Records) -> str:
    """Whether peaks are mostly of what was there before the work that is measured: then their ratios say little of the allocators."""
    shares = {}
    for row in records.rows:
        runs = [run for subject in records.subjects for run in records.of("time", row.id, subject.name)]
        if found := [before / peak for run in runs if (before := run.number("base_rss")) and (peak := run.number("peak_rss"))]:
            shares[row.id] = statistics.median(found)
    mostly = sum(share > 0.5 for share in shares.values())
    if not mostly:
        return ""
    return (
        "A peak is the whole process's, with what was there before a workload's measured phase: the program, its libraries, the tables of "
        f"the laboratory, what an allocator begins with. In {mostly} of {units.several(len(shares), 'row')} of workloads that is more than "
        "half of it: ratios there are nearer to 1 than those of the memory that was taken for the work."
    )


def clock(records: Records) -> str:
    """What of each latency is the clock's own time."""
    told = [ns for run in records.runs if run.instrument == "latency" and (ns := run.number("latency_overhead_ns")) is not None]
    here = f" Here that is {units.seconds(statistics.median(told) * 1e-9)}." if told else ""
    return f"Each time holds what the clock takes for nothing, which may be most of a fast call's; it is not taken off.{here}"


def facts(records: Records) -> list[tuple[str, str]]:
    machine, experiment = records.machine, records.experiments[0]
    commit = str(machine.get("commit") or "")[:12]
    changed = " with uncommitted changes" if machine.get("uncommitted_changes") else ""
    memory = machine.get("memory_bytes")
    took = sum(float(end.get("seconds") or 0) for end in records.ends.values())
    told = [
        ("processor", f"{machine.get('cpu', '')}, {records.cores or '?'} cores" if machine.get("cpu") else ""),
        ("memory", units.size(memory) if isinstance(memory, int) and memory else ""),
        ("system", ", ".join(str(machine[k]) for k in ("distribution", "libc") if machine.get(k))),
        ("kernel", f"Linux {machine['kernel']}" if machine.get("kernel") else ""),
        ("huge pages", str(machine.get("transparent_huge_pages") or "")),
        ("overcommit", str(machine.get("overcommit_memory") or "")),
        ("compiler", str(machine.get("compiler") or "")),
        ("POLDER_OPTIONS", str(machine.get("polder_options") or "")),
        ("commit", f"{commit}{changed}" if commit else ""),
        ("started", str(experiment.get("started") or "").replace("T", " ")[:16]),
        ("took", units.several(round(took / 60), "minute") if records.ends else ""),
        ("seed", str(experiment.get("seed") or "")),
        ("settings", ", ".join(setting(k, v) for k, v in (experiment.get("settings") or {}).items() if k != "seed" and v)),
    ]
    return [(name, value) for name, value in told if value]


def setting(name: str, value: object) -> str:
    if value is True:
        return name
    return f"{name} {' '.join(map(str, value)) if isinstance(value, list) else value}"


DIFFERING = {"cpu": "machines", "kernel": "kernels", "commit": "commits", "polder_options": "POLDER_OPTIONS",
             "transparent_huge_pages": "settings of huge pages"}


def differing(records: Records) -> str:
    """What is not the same in all of several files, in words."""
    machines = [experiment.get("machine") or {} for experiment in records.experiments]
    found = [word for name, word in DIFFERING.items() if len({json.dumps(machine.get(name) or "") for machine in machines}) > 1]
    digests: dict[str, set[str]] = {}
    for experiment in records.experiments:
        for subject in experiment["subjects"]:
            if digest := subject.get("digest"):
                digests.setdefault(subject["name"], set()).add(str(digest))
    if others := [name for name, of in digests.items() if len(of) > 1]:
        found.append(f"libraries under the same name ({', '.join(others)})")
    return " and ".join([", ".join(found[:-1]), found[-1]] if len(found) > 1 else found)


def warnings(records: Records) -> list[str]:
    told = []
    share = max((float(n.get("others_share") or 0) for n in records.noise), default=0.0)
    spread = max((float(n.get("spin_spread") or 0) for n in records.noise), default=0.0)
    if share > OTHERS_LIMIT:
        told.append(f"Noisy machine: other processes used up to {share:.0%} of it meanwhile. A quiet one gives tighter intervals.")
    if spread > SPREAD_LIMIT:
        told.append(f"Unsteady machine: a fixed piece of work took times that spread by up to {spread:.0%}.")
    if len(records.ends) < len(records.files):
        told.append("The experiment has not ended: these are the repetitions that were finished so far.")
    if any(end.get("interrupted") for end in records.ends.values()):
        told.append("The experiment was interrupted: only what was finished is shown.")
    if not records.timed:
        told.append("No times: the pass time, out of which peak memory and page faults are taken as well, was not run.")
    if records.damaged:
        told.append(f"{units.several(records.damaged, 'line')} of the records could not be read and were left out.")
    if found := differing(records):
        told.append(f"These records come from different {found}: compare within a row only where one of them has it all.")
    if len({row.id for row in records.rows}) and 0 < records.rounds < 6:
        told.append(f"{units.several(records.rounds, 'round')}: ratios have intervals from 6 rounds on.")
    return told


def what_was_measured(records: Records, shown: Sequence[Row]) -> str:
    programs = sum(row.kind == "program" for row in shown)
    parts = [units.several(len(shown) - programs, "workload")] if len(shown) > programs else []
    parts += [units.several(programs, "program")] if programs else []
    passes = dict.fromkeys(run.instrument for run in records.runs)
    return (
        f"{' and '.join(parts)} in {units.several(len(records.rows), 'row')}, under {units.several(len(records.subjects), 'allocator')}, "
        f"{units.several(records.rounds, 'round')}; passes: {', '.join(passes)}."
    )
