"""Reads the files of a recording; src/polder/os/timeline_format.hpp has their layout. Several become one, by the clock."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from polder_lab.complaint import Complaint

MAGIC, VERSION = b"POLDERTL", 1
HEADER = struct.Struct("<8s6IQ4QQQ168s")
KIND = struct.Struct("<30sBB")
THREAD = struct.Struct("<IHHQQQ16s")
TALLY = np.dtype([("count", "<u8"), ("ticks", "<u8")])
EVENT = np.dtype(
    [("start", "<u8"), ("end", "<u8"), ("count", "<u8"), ("label", "<u4"), ("thread", "<u2"), ("kind", "u1"), ("unused", "u1")]
)
COMPLETE = 1
LATEST_NS = 1e9
FORMS = ("interval", "point", "gauge")
Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Kind:
    name: str
    form: str


@dataclass
class Unkept:
    """Events that were seen and are not in the file."""

    count: int = 0
    seconds: float = 0.0

    def add(self, count: int, seconds: float) -> None:
        self.count += count
        self.seconds += seconds


@dataclass
class Thread:
    pid: int
    tid: int
    name: str
    full_at: float | None  # seconds; from there on its buffer was full
    lost: dict[str, Unkept]
    brief: dict[str, Unkept]  # shorter than was asked for
    interrupted: int  # lost: of signal handlers

    @property
    def lost_count(self) -> int:
        return self.interrupted + sum(one.count for one in self.lost.values())


@dataclass(frozen=True)
class Source:
    path: Path
    pid: int
    command: str
    date_ns: int  # since 1970
    ns_per_tick: float
    at_least_ns: int
    events_a_thread: int
    lost_elsewhere: int  # events of threads that could get no buffer


@dataclass
class Recording:
    """Times are seconds since the earliest file began. `row` and `kind` are places in threads and kinds."""

    sources: list[Source]
    threads: list[Thread]
    kinds: list[Kind]
    seconds: float
    begin: Array
    end: Array
    count: Array
    label: Array
    row: Array
    kind: Array

    def __len__(self) -> int:
        return len(self.begin)

    def of(self, *forms: str) -> Array:
        """Which events are of kinds of these forms."""
        chosen: Array = np.isin(self.kind, [at for at, kind in enumerate(self.kinds) if kind.form in forms])
        return chosen

    def named(self, name: str) -> Array:
        chosen: Array = np.isin(self.kind, [at for at, kind in enumerate(self.kinds) if kind.name == name])
        return chosen

    def only(self, chosen: Array) -> Recording:
        return Recording(self.sources, self.threads, self.kinds, self.seconds, *(a[chosen] for a in self.columns))

    @property
    def columns(self) -> tuple[Array, ...]:
        return self.begin, self.end, self.count, self.label, self.row, self.kind

    @property
    def lost(self) -> int:
        return sum(t.lost_count for t in self.threads) + sum(s.lost_elsewhere for s in self.sources)


def read(paths: Sequence[Path]) -> Recording:
    files: dict[bytes, File] = {}
    for path in paths:
        file = File(path)
        before = files.setdefault(file.bytes, file)
        if before is not file:
            raise Complaint(f"{path} and {before.path} are one recording: its events would count twice")
    return merged(list(files.values()))


class File:
    """One file, looked through: whatever is odd in it is a Complaint."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.bytes = path.read_bytes()
        except OSError as why:
            raise Complaint(f"cannot read {path}: {why.strerror}") from why
        self.at = 0
        if self.bytes[: len(MAGIC)] != MAGIC:
            raise Complaint(f"{path} is no timeline: POLDER_OPTIONS=timeline=FILE makes one, docs/how-to/timeline.md says how")
        if len(self.bytes) >= 12 and (version := int.from_bytes(self.bytes[8:12], "little")) != VERSION:
            newer = "newer" if version > VERSION else "older"
            raise Complaint(f"{path} is of the {newer} version {version} of the format, and version {VERSION} is read here")
        header = HEADER.unpack(self.take(HEADER.size))
        (_, _, state, self.pid, kinds, threads, self.events_a_thread, self.at_least_ns) = header[:8]
        self.begin_ticks, self.begin_ns, self.end_ticks, end_ns, self.date_ns, self.lost_elsewhere, command = header[8:]
        if state != COMPLETE:
            raise Complaint(
                f"{path} is not finished: process {self.pid} still runs, ended without exit (kill, _exit, exec) or could not write"
            )
        self.command = text(command)
        if self.end_ticks <= self.begin_ticks or end_ns <= self.begin_ns:
            raise self.damaged("it ends before it begins")
        self.ns_per_tick = (end_ns - self.begin_ns) / (self.end_ticks - self.begin_ticks)
        self.end_ns = end_ns
        self.kinds: dict[int, Kind] = {}
        for _ in range(kinds):
            name, number, form = KIND.unpack(self.take(KIND.size))
            if form >= len(FORMS):
                raise self.damaged(f"a kind has the form {form}")
            self.kinds[number] = Kind(text(name), FORMS[form])
        self.threads = [self.thread(kinds) for _ in range(threads)]
        self.events = np.frombuffer(self.take(sum(events for *_, events in self.threads) * EVENT.itemsize), EVENT)
        if self.at != len(self.bytes):
            raise self.damaged(f"{len(self.bytes) - self.at} bytes follow its end")
        self.check()

    def take(self, size: int) -> bytes:
        if self.at + size > len(self.bytes):
            raise Complaint(f"{self.path} is cut short: {len(self.bytes):,} bytes, and there should be at least {self.at + size:,}")
        self.at += size
        return self.bytes[self.at - size : self.at]

    def damaged(self, what: str) -> Complaint:
        return Complaint(f"{self.path} is damaged: {what}")

    def thread(self, kinds: int) -> tuple[Thread, int, int]:
        """And its number and how many events it has."""
        tid, number, _, events, interrupted, full_at, name = THREAD.unpack(self.take(THREAD.size))
        brief, lost = (np.frombuffer(self.take(kinds * TALLY.itemsize), TALLY) for _ in range(2))

        def unkept(tallies: Array) -> dict[str, Unkept]:
            return {
                kind.name: Unkept(int(tallies[at]["count"]), int(tallies[at]["ticks"]) * self.ns_per_tick * 1e-9)
                for at, kind in enumerate(self.kinds.values())
                if tallies[at]["count"]
            }

        if self.too_late(full_at):
            raise self.damaged("a buffer was full after its end")
        full = self.ns(full_at) if full_at else None
        return Thread(self.pid, tid, text(name), full, unkept(lost), unkept(brief), interrupted), number, events

    def ns(self, ticks: Any) -> Any:
        """CLOCK_MONOTONIC, within the recording: what was begun before it, or ended after it, is cut at its ends."""
        inside = np.clip(ticks, np.uint64(self.begin_ticks), np.uint64(self.end_ticks))
        return self.begin_ns + (inside - np.uint64(self.begin_ticks)).astype(np.float64) * self.ns_per_tick

    def too_late(self, ticks: Any) -> Any:
        """For a good file: a thread that was about to record when it ended comes a little later, and no more than that."""
        return ticks > self.end_ticks + LATEST_NS / self.ns_per_tick

    def check(self) -> None:
        if (self.events["end"] < self.events["start"]).any():
            raise self.damaged("an event ends before it begins")
        if self.too_late(self.events["start"]).any():
            raise self.damaged("an event begins after its end")
        if not np.isin(self.events["kind"], list(self.kinds)).all():
            raise self.damaged("an event is of no kind that it names")
        numbers = np.repeat([number for _, number, _ in self.threads], [events for *_, events in self.threads])
        if (self.events["thread"] != numbers).any():
            raise self.damaged("an event is of another thread than it stands with")

    @property
    def source(self) -> Source:
        return Source(
            self.path,
            self.pid,
            self.command,
            self.date_ns,
            self.ns_per_tick,
            self.at_least_ns,
            self.events_a_thread,
            self.lost_elsewhere,
        )


def text(raw: bytes) -> str:
    return raw.split(b"\0")[0].decode("utf-8", "replace").strip()


def merged(files: Sequence[File]) -> Recording:
    """A thread that recorded in several files, or in two buffers, is one row."""
    first = min(file.begin_ns for file in files)
    last = max(file.end_ns for file in files)
    kinds: dict[str, Kind] = {kind.name: kind for file in files for kind in file.kinds.values()}
    place = {name: at for at, name in enumerate(kinds)}
    threads: dict[tuple[int, int], Thread] = {}
    for file in files:
        for thread, _, _ in file.threads:
            if thread.full_at is not None:
                thread.full_at = (thread.full_at - first) * 1e-9
            join(threads.setdefault((thread.pid, thread.tid), thread), thread)
    rows = {key: at for at, key in enumerate(sorted(threads))}
    parts: list[list[Array]] = []
    for file in files:
        events = file.events
        of_thread = [rows[thread.pid, thread.tid] for thread, _, _ in file.threads]
        of_kind = np.zeros(256, np.int16)
        for number, kind in file.kinds.items():
            of_kind[number] = place[kind.name]
        parts.append(
            [
                (file.ns(events["start"]) - first) * 1e-9,
                (file.ns(events["end"]) - first) * 1e-9,
                events["count"],
                events["label"],
                np.repeat(np.array(of_thread, np.int32), [events for *_, events in file.threads]),
                of_kind[events["kind"]],
            ]
        )
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    ordered = [threads[key] for key in sorted(threads)]
    return Recording([file.source for file in files], ordered, list(kinds.values()), (last - first) * 1e-9, *columns)


def join(into: Thread, other: Thread) -> None:
    if other is into:
        return
    into.interrupted += other.interrupted
    if other.full_at is not None:
        into.full_at = min(other.full_at, into.full_at) if into.full_at is not None else other.full_at
    for mine, its in ((into.lost, other.lost), (into.brief, other.brief)):
        for name, one in its.items():
            mine.setdefault(name, Unkept()).add(one.count, one.seconds)


def within(whole: Recording, since: float | None, until: float | None) -> Recording:
    """The events that touch the window; those that reach beyond it are cut at its ends."""
    low, high = since or 0.0, whole.seconds if until is None else until
    if low >= whole.seconds:
        raise Complaint(f"--from {low:g} is after the end: the recording has {whole.seconds:.3f} seconds")
    if not low < high:
        raise Complaint(f"--from {low:g} --to {high:g} is no window: the recording has {whole.seconds:.3f} seconds")
    part = whole.only((whole.end >= low) & (whole.begin <= high))
    part.begin, part.end = np.maximum(part.begin, low), np.minimum(part.end, high)
    return part
