"""How much memory can be had before the kernel ends somebody for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from polder_lab.machine import field, text_of

GROUPS = Path("/sys/fs/cgroup")
FILES = {"": ("memory.max", "memory.current"), "memory": ("memory.limit_in_bytes", "memory.usage_in_bytes")}  # version 2, version 1


def room(groups: Path = GROUPS, of: str = "/proc/self/cgroup") -> int:
    """Bytes: what the machine has left, and each control group that we are in."""
    left = [int((field(text_of("/proc/meminfo"), "MemAvailable") or "0").split()[0]) * 1024]
    for folder, (limit, used) in own_groups(groups, of):
        most, now = text_of(str(folder / limit)), text_of(str(folder / used))
        if most.isdecimal() and now.isdecimal():
            left.append(int(most) - int(now) + cache_of(folder))
    return max(0, min(left))


def own_groups(groups: Path, of: str) -> Iterator[tuple[Path, tuple[str, str]]]:
    """From the innermost on. In a container the outer ones are not to be seen, and its own may be mounted as the outermost."""
    for line in text_of(of).splitlines():
        _, controllers, path = line.split(":", 2)
        kind = "memory" if "memory" in controllers.split(",") else controllers
        if kind not in FILES:
            continue
        root = groups / kind
        inner = root / path.lstrip("/")
        for folder in (inner, *inner.parents):
            if folder.is_relative_to(root):
                yield folder, FILES[kind]


def cache_of(folder: Path) -> int:
    """Of files, which the kernel drops first."""
    told = dict(line.split(" ", 1) for line in text_of(str(folder / "memory.stat")).splitlines() if " " in line)
    return int(told.get("inactive_file", 0))
