"""Heap profiles as a process on Polder writes them (option `profile`): read, scaled, and given names by addr2line."""

from __future__ import annotations

import math
import re
import shutil
import struct
import subprocess
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from polder_lab.complaint import Complaint

# Numbers of more digits than a word holds are of no process.
FIRST = re.compile(r"heap profile: \d+: \d+ \[\d+: \d+\] @ (?:heapprofile|heap_v2/(\d{1,19}))$")
STACK = re.compile(r"(\d{1,19}): (\d{1,19}) \[(\d{1,19}): (\d{1,19})\] @((?: 0x[0-9a-f]+)*)$")
MAPPED = re.compile(r"([0-9a-f]+)-([0-9a-f]+) (\S{4}) ([0-9a-f]+) \S+ \d+\s*(.*)$")
# What asks for memory on behalf of others, and so says nothing; and the heap itself, where it is linked into the program.
ASKS_FOR_OTHERS = re.compile(
    r"std::|__gnu_cxx::|polder(::|_)|operator new|strdup$|((m|c|re)alloc|reallocarray|(mem|posix_mem)align|aligned_alloc)$")


@dataclass(frozen=True)
class Counts:
    """Blocks and bytes, as estimated of all that there were."""

    live_blocks: float = 0.0
    live_bytes: float = 0.0
    blocks: float = 0.0
    bytes: float = 0.0

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.live_blocks + other.live_blocks, self.live_bytes + other.live_bytes,
                      self.blocks + other.blocks, self.bytes + other.bytes)


@dataclass(frozen=True)
class Mapping:
    begin: int
    end: int
    file: str
    bias: int  # what to take from an address to have the one that the file knows

    def __contains__(self, address: int) -> bool:
        return self.begin <= address < self.end


@dataclass
class Profile:
    mean: int | None  # bytes from one sample to the next; None: each line is estimated already
    stacks: dict[tuple[int, ...], Counts]  # by return addresses, innermost first
    mappings: list[Mapping] = field(default_factory=list)

    def total(self) -> Counts:
        return sum(self.stacks.values(), Counts())


def scaled(blocks: int, size: int, mean: int | None) -> tuple[float, float]:
    """How many blocks and bytes `blocks` samples of `size` bytes together stand for: each was drawn with the chance
    1 - exp(-its size / mean)."""
    if blocks == 0 or mean is None:
        return float(blocks), float(size)
    by = 1 / -math.expm1(-max(size, 1) / blocks / mean)
    return blocks * by, size * by


def read(file: Path) -> Profile:
    try:
        lines = file.read_text(errors="replace").splitlines()
    except OSError as error:
        raise Complaint(f"{file}: {error.strerror}") from error
    first = FIRST.match(lines[0]) if lines else None
    if not first:
        raise Complaint(f"{file} is no heap profile; one begins with 'heap profile:', as POLDER_OPTIONS=profile=NAME writes it")
    profile = Profile(max(int(first[1]), 1) if first[1] else None, {})
    stacks: defaultdict[tuple[int, ...], Counts] = defaultdict(Counts)
    at = 1
    for line in lines[1:]:
        at += 1
        if not line:
            break
        found = STACK.match(line)
        if not found:
            raise Complaint(f"{file}: line {at} is none of a heap profile")
        live_blocks, live_bytes, blocks, size = (int(found[i]) for i in range(1, 5))
        frames = tuple(int(frame, 16) for frame in found[5].split())
        stacks[frames] += Counts(*scaled(live_blocks, live_bytes, profile.mean), *scaled(blocks, size, profile.mean))
    profile.stacks = dict(stacks)
    profile.mappings = mapped(lines[at:])
    return profile


def mapped(lines: Iterable[str]) -> list[Mapping]:
    """The code among what /proc/PID/maps tells."""
    found: list[Mapping] = []
    starts: dict[str, int] = {}
    for line in lines:
        if parts := MAPPED.match(line):
            begin, end, rights, offset, file = int(parts[1], 16), int(parts[2], 16), parts[3], int(parts[4], 16), parts[5]
            starts.setdefault(file, begin - offset)
            if "x" in rights:
                found.append(Mapping(begin, end, file, starts[file] - first_address(file)))
    return found


def first_address(file: str) -> int:
    """Where the file itself says that its first byte is loaded: 0 but for programs of a fixed place. 0 too if it cannot be read."""
    try:
        with open(file, "rb") as elf:
            head = elf.read(64)
            if head[:5] != b"\x7fELF\x02":
                return 0
            table, size, count = struct.unpack_from("<Q", head, 32)[0], *struct.unpack_from("<HH", head, 54)
            elf.seek(table)
            for _ in range(count):
                kind, _, offset, address = struct.unpack_from("<IIQQ", elf.read(size))
                if kind == 1:
                    return int(address - offset)
    except (OSError, struct.error):
        pass
    return 0


@dataclass(frozen=True)
class Frame:
    function: str
    place: str  # FILE:LINE, or the library

    def __str__(self) -> str:
        return f"{self.function}  {self.place}" if self.place else self.function


class Names:
    """Frames by return address, several where a function was inlined into another: innermost first."""

    def __init__(self, mappings: list[Mapping]) -> None:
        self.mappings = mappings
        self.known: dict[int, tuple[Frame, ...]] = {}

    def learn(self, addresses: Iterable[int]) -> None:
        """Asks addr2line once for each file."""
        asked: defaultdict[Mapping | None, list[int]] = defaultdict(list)
        for address in {*addresses} - self.known.keys():
            asked[next((m for m in self.mappings if address - 1 in m), None)].append(address)
        for mapping, wanted in asked.items():
            for address in wanted:
                where = f"{Path(mapping.file).name}+{address - mapping.bias:#x}" if mapping else f"{address:#x}"
                self.known[address] = (Frame(where, ""),)
            if mapping and Path(mapping.file).is_file() and shutil.which("addr2line"):
                self.known.update(self.ask(mapping, wanted))

    @staticmethod
    def ask(mapping: Mapping, addresses: list[int]) -> dict[int, tuple[Frame, ...]]:
        # The call lies before the address to which it returns.
        questions = "".join(f"{address - 1 - mapping.bias:#x}\n" for address in addresses)
        done = subprocess.run(["addr2line", "-a", "-f", "-i", "-C", "-e", mapping.file], input=questions, capture_output=True, text=True)
        answers: list[list[str]] = []
        for line in done.stdout.splitlines():
            if re.fullmatch(r"0x[0-9a-f]{16}", line):
                answers.append([])
            elif answers:
                answers[-1].append(line)
        found: dict[int, tuple[Frame, ...]] = {}
        for address, answer in zip(addresses, answers, strict=False):
            pairs = [(bare(name), line.split(" (discr")[0]) for name, line in zip(answer[::2], answer[1::2], strict=False) if name != "??"]
            if pairs:
                library = Path(mapping.file).name
                found[address] = tuple(Frame(name, library if line.startswith("??") else short(line)) for name, line in pairs)
        return found

    def of(self, stack: tuple[int, ...]) -> list[Frame]:
        return [frame for address in stack for frame in self.known[address]]


def bare(function: str) -> str:
    """A C++ function's name without template arguments and parameters, which would fill a screen: std::vector::push_back."""
    if re.search(r"operator ?[<>(-]", function):
        return function
    depth, kept = 0, []
    for letter in function.replace("(anonymous namespace)::", ""):
        depth += letter in "<("
        if depth == 0:
            kept.append(letter)
        depth -= letter in ">)"
    name = "".join(kept).removesuffix(" const").strip()
    return (name if "operator" in name else name.split(" ")[-1]) or function  # a template's has its result's type before it


def short(line: str) -> str:
    """The last two parts of a file's name are enough for a person."""
    return "/".join(line.split("/")[-2:])


def asker(frames: list[Frame]) -> Frame:
    """The innermost frame that says something."""
    return next((frame for frame in frames if not ASKS_FOR_OTHERS.match(frame.function)), frames[0] if frames else Frame("?", ""))
