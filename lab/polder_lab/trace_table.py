"""What a trace holds and what its replays gave, as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from polder_lab.report.estimate import enough
from polder_lab.report.units import quantity, several
from polder_lab.table import STYLES, WORDS, counted, span, value
from polder_lab.trace import Replays

BAR = 30
PERCENTILES = (("malloc", "p50_ns", 0.5), ("malloc", "p99_ns", 0.99), ("malloc", "p99_9_ns", 0.999), ("free", "p50_ns", 0.5),
               ("free", "p99_ns", 0.99))  # of a replay


def size(number: float) -> str:
    return quantity(number, ("B", "KiB", "MiB", "GiB"), 1024)


def duration(ns: float) -> str:
    return quantity(ns, ("ns", "µs", "ms", "s"), 1000)


SHOW = {"B": size, "ns": duration, "": counted}


def calls_and_threads(about: Mapping[str, Any]) -> str:
    return f"{about['events']:,} calls by {about['threads']} thread{'s' if about['threads'] != 1 else ''}"


MOST_THREADS = 65536  # of a trace: bench/trace/trace_format.hpp


def cut_short(about: Mapping[str, Any]) -> str:
    if about["threads"] == MOST_THREADS:
        return f"no trace has more than {MOST_THREADS:,} threads"
    return "the recorder could not write any further (a full disk?)"


def bar(share: float) -> Text:
    return Text("█" * round(share * BAR) or ("▏" if share > 0 else ""), "cyan")


def percent(part: float, whole: float) -> str:
    return f"{part / whole:.1%}" if whole else "–"


def plain(*heads: str, left: int = 1) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for index, head in enumerate(heads):
        table.add_column(head, justify="left" if index < left else "right", no_wrap=True)
    return table


def histogram(title: str, rows: Sequence[Sequence[int]], unit: str) -> Table:
    """Rows of [least, most, count, …]; the bars are shares of all."""
    table = plain(title, "count", "", left=1)
    table.columns[2].justify = "left"
    total = sum(row[2] for row in rows)
    show = SHOW[unit]
    for row in rows:
        least, most = row[0], row[1]
        name = show(least) if least == most else f"{show(least)} – {show(most + 1)}"
        table.add_row(name, counted(row[2]), bar(row[2] / total))
    return table


def describe(about: Mapping[str, Any], name: str, console: Console) -> None:
    allocations, frees = about["allocations"], about["frees"]
    live = about["live"]
    console.print(Text(f"{name}: {about['program']}, {calls_and_threads(about)} in {about['seconds']:.3f} s", "bold"))
    facts = plain("", "")
    facts.show_header = False
    facts.columns[1].justify = "left"
    facts.add_row("requested", f"{size(about['requested_bytes'])} in {allocations:,} blocks, {size(about['zeroed_bytes'])} of it zeroed")
    facts.add_row("most alive", f"{size(live['peak_bytes'])} at {live['peak_at']:.3f} s; {live['peak_objects']:,} blocks")
    facts.add_row("at the end", f"{size(live['end_bytes'])} in {about['never_freed']:,} blocks, never freed")
    facts.add_row("remote frees", f"{about['remote_frees']:,} of {frees:,}, {percent(about['remote_frees'], frees)}: "
                                  "by another thread than the one that allocated")
    facts.add_row("realloc", f"{about['resized']:,} of blocks that were there, {about['grown']:,} of them to grow")
    facts.add_row("calls", ", ".join(f"{call} {count:,}" for call, count in about["calls"].items() if count))
    if about["failed"] or about["null"]:
        facts.add_row("among them", f"{about['failed']:,} that failed, {about['null']:,} of a null pointer")
    if about["foreign"]:
        facts.add_row("left out", f"{about['foreign']:,} calls about blocks that were made unseen: before a fork, in a handler")
    if about["cut_short"]:
        facts.add_row("cut short", f"{cut_short(about)}; the program went on without it")
    console.print(facts)
    console.print()
    console.print(histogram("size", about["sizes"], "B"))
    console.print()
    exact = plain("most common sizes", "count", "share")
    asked = sum(row[2] for row in about["sizes"])
    for bytes_, count in about["common_sizes"]:
        exact.add_row(f"{bytes_:,}", counted(count), percent(count, asked))
    console.print(exact)
    console.print()
    console.print(histogram("life, in allocations", about["lives_in_allocations"], ""))
    console.print()
    console.print(histogram("life, in time", about["lives_in_ns"], "ns"))
    console.print()
    over_time = plain("live bytes at", "", "", left=1)
    over_time.columns[2].justify = "left"
    for at, bytes_ in live["over_time"][:: max(1, len(live["over_time"]) // 16)]:
        over_time.add_row(f"{at:.3f} s", size(bytes_), bar(bytes_ / max(1, live["peak_bytes"])))
    console.print(over_time)
    if about["threads"] > 1:
        console.print()
        threads = plain("thread", "allocations", "frees", "remote", "requested", "from s", "to s")
        busiest = sorted(enumerate(about["by_thread"]), key=lambda item: -item[1]["allocations"] - item[1]["frees"])[:16]
        for number, t in sorted(busiest, key=lambda item: item[0]):
            threads.add_row(str(number), counted(t["allocations"]), counted(t["frees"]), counted(t["remote_frees"]), size(t["bytes"]),
                            f"{t['from']:.3f}", f"{t['to']:.3f}")
        console.print(threads)
        if about["threads"] > len(busiest):
            console.print(f"and {about['threads'] - len(busiest)} threads that called less", style="dim")


def percentile(result: Replays, call: str, name: str, share: float) -> str:
    """Nothing where the replay has no such call, a dash where it has too few for the percentile."""
    if call not in result.lines[0]["latency"]:
        return ""
    return duration(result.median("latency", call, name)) if enough(result.median("latency", call, "count"), share) else "–"


def replays(results: Sequence[Replays], name: str, console: Console) -> None:
    base = results[0]
    measured = [result for result in results if result.lines]
    if measured:
        line = measured[0].lines[0]
        console.print(Text(f"{name}: {line['trace']}, {calls_and_threads({**line, 'events': line['operations']})} a replay, "
                           f"{several(len(measured[0].lines), 'round')}, order {line['order']}", "bold"))
        console.print()
        table = plain("heap", "in malloc", "ratio", "95 % interval", "", "per call", "p50 malloc", "p99", "p99.9", "p50 free", "p99",
                      "peak MB", "ratio")
        table.columns[3].justify = table.columns[4].justify = "left"
        for result in measured:
            time, peak = result.ratio(base, "seconds"), result.ratio(base, "grown_kb")
            verdict = time.verdict if time else ""
            style = STYLES.get(verdict, "")
            table.add_row(result.heap.name, duration(result.median("seconds") * 1e9), Text(value(time), style), Text(span(time), style),
                          Text(WORDS[verdict], style), duration(result.median("seconds") / result.median("operations") * 1e9),
                          *(percentile(result, *which) for which in PERCENTILES),
                          f"{result.median('grown_kb') / 1024:.1f}" if result.tells("grown_kb") else "unknown", value(peak))
        console.print(table)
        console.print()
    for result in results:
        if result.trouble:
            console.print(f"FAILED    under {result.heap.name} {result.trouble}", style="bold red", markup=False)
    console.print("Times are medians over the rounds. In malloc: summed over threads, without waiting for each other, the clock's cost "
                  "taken off. Percentiles hold one reading of the clock. Peak: above what the process had before its first call.",
                  style="dim")
