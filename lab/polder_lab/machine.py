"""On what it was measured, and how quiet that was."""

from __future__ import annotations

import os
import platform
import re
import resource
import subprocess
import time
from pathlib import Path
from typing import Any

from polder_lab.place import Place


def text_of(path: str) -> str:
    try:
        return Path(path).read_text(errors="replace").strip()
    except OSError:
        return ""


def first_line(command: list[str], folder: Path | None = None) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, cwd=folder)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip().splitlines()[0] if done.returncode == 0 and done.stdout.strip() else ""


def field(text: str, name: str) -> str:
    match = re.search(rf"^{re.escape(name)}\s*[:=]\s*(.*)$", text, re.MULTILINE)
    return match[1].strip().strip('"') if match else ""


def libc() -> str:
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (ValueError, OSError):
        return ""


def cores() -> int:
    return len(os.sched_getaffinity(0))


def describe(place: Place) -> dict[str, Any]:
    cache = text_of(str(place.build / "CMakeCache.txt"))
    compiler = field(cache, "CMAKE_CXX_COMPILER:FILEPATH") or field(cache, "CMAKE_CXX_COMPILER:STRING") or "c++"
    choice = re.compile(r"\[(\w+)\]").search(text_of("/sys/kernel/mm/transparent_hugepage/enabled"))
    return {
        "cpu": field(text_of("/proc/cpuinfo"), "model name") or platform.processor() or platform.machine(),
        "architecture": platform.machine(),
        "cores": cores(),
        "memory_bytes": int((field(text_of("/proc/meminfo"), "MemTotal") or "0").split()[0]) * 1024,
        "kernel": platform.release(),
        "distribution": field(text_of("/etc/os-release"), "PRETTY_NAME"),
        "libc": libc(),
        "transparent_huge_pages": choice[1] if choice else "",
        "overcommit_memory": text_of("/proc/sys/vm/overcommit_memory"),
        "compiler": first_line([compiler, "--version"]),
        "commit": first_line(["git", "rev-parse", "HEAD"], place.root),
        "uncommitted_changes": bool(first_line(["git", "status", "--porcelain", "--untracked-files=no"], place.root)),
        "python": platform.python_version(),
        "polder_options": os.environ.get("POLDER_OPTIONS", ""),
        "load_before": os.getloadavg()[0],
    }


def busy_seconds() -> float:
    """Processor seconds that anything has used since the machine started, those taken by its host included."""
    told = text_of("/proc/stat").split()[1:9]  # nothing in a sandbox without it
    if len(told) < 8:
        return 0.0
    user, nice, system, _idle, _wait, irq, softirq, steal = map(int, told)
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def own_seconds() -> float:
    return sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


class Quiet:
    """How much of the machine others used meanwhile."""

    def __init__(self) -> None:
        self.start = time.monotonic(), busy_seconds(), own_seconds()

    def others_share(self) -> float:
        wall, busy, own = (now - then for now, then in zip((time.monotonic(), busy_seconds(), own_seconds()), self.start, strict=True))
        return max(0.0, (busy - own) / (wall * (os.cpu_count() or 1))) if wall > 0 else 0.0
