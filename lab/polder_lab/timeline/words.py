"""What label and count of an event mean, and what the page and the terminal say of a recording."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from polder_lab.report import units
from polder_lab.timeline.recording import Recording
from polder_lab.timeline.share import Share, freeing

# name: label, count; empty where it says nothing
MEANINGS = {
    "batch free": ("epoch", "objects"),
    "single free": ("epoch", ""),
    "epoch advance": ("epoch", ""),
    "token pass": ("times", ""),
    "bag rotate": ("epoch", "objects"),
    "refill": ("size class", "bytes a block"),
    "post": ("to LAB", "bytes"),
    "drain": ("LAB", "bytes"),
    "span get": ("grains", "bytes"),
    "span put": ("grains", "bytes"),
    "map": ("", "bytes"),
    "unmap": ("", "bytes"),
    "advise": ("advice", "bytes"),
    "operation": ("label", "count"),
    "unreclaimed": ("epoch", "objects"),
}


def meaning(kind: str) -> tuple[str, str]:
    return MEANINGS.get(kind, ("label", "count"))


def counted(kind: str, number: int) -> str:
    """The sum of what the events of a kind count; a block's size does not add up to anything."""
    what = meaning(kind)[1]
    if not number or not what or what == "bytes a block":
        return ""
    return units.size(number) if what == "bytes" else f"{units.count(number)} {what}"


def warnings(recording: Recording) -> list[str]:
    told = []
    if full := [t for t in recording.threads if t.full_at is not None]:
        lost = sum(sum(one.count for one in t.lost.values()) for t in full)
        first = min(t.full_at for t in full if t.full_at is not None)
        room = max(source.events_a_thread for source in recording.sources)
        told.append(
            f"{lost:,} events were lost: the buffers of {len(full)} of {len(recording.threads)} threads ({room:,} events each) were "
            f"full, the first after {first:.3f} s. Their time is in the shares of the whole, they are not in the picture. "
            "More room: timeline_events=N; or only what is long: timeline_at_least=NS."
        )
    if interrupted := sum(t.interrupted for t in recording.threads):
        told.append(f"{interrupted:,} events of signal handlers that interrupted a recording were lost.")
    if elsewhere := sum(source.lost_elsewhere for source in recording.sources):
        told.append(f"{elsewhere:,} events were lost of threads that could get no buffer, and so is their time.")
    return told


def facts(recording: Recording) -> list[tuple[str, str]]:
    first = recording.sources[0]
    begun = datetime.fromtimestamp(min(s.date_ns for s in recording.sources) * 1e-9, UTC).strftime("%Y-%m-%d %H:%M:%S")
    brief = sum(one.count for t in recording.threads for one in t.brief.values())
    at_least = max(source.at_least_ns for source in recording.sources)
    told = [
        ("begun", f"{begun} UTC"),
        ("lasted", units.seconds(recording.seconds)),
        ("threads", f"{len(recording.threads)}"),
        ("events", f"{len(recording):,}"),
        ("lost", f"{recording.lost:,}"),
        ("room", f"{first.events_a_thread:,} events a thread"),
        ("only counted", f"{brief:,} shorter than {units.seconds(at_least * 1e-9)}" if at_least else ""),
        ("a tick", f"{first.ns_per_tick:.4f} ns"),
        ("processes", ", ".join(str(pid) for pid in dict.fromkeys(s.pid for s in recording.sources))),
    ]
    return [(name, value) for name, value in told if value]


def headline(found: Sequence[Share]) -> str:
    share = freeing(found)
    return f"{share:.1%} of the threads' time went into freeing" if share is not None else ""
