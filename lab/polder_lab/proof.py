"""Did the heap really serve malloc in the measured program?

A library in a process's memory map proves nothing: a program may bring a malloc of its own, or be static. The dynamic
linker itself tells: LD_DEBUG=bindings makes it write down, for each process, which file every symbol is bound to. The
first run of each row under each heap, which is not counted, is made that way. A child in which the linker is not asked, since it is
static, set-user-id or without its parent's environment, says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from polder_lab.heap import Heap

BOUND = re.compile(r"binding file (\S+) \[\d+\] to (\S+) \[\d+\]: normal symbol `malloc'")
LIBRARY = re.compile(r"\.so(\.[0-9.]+)?$")


class Witness:
    """Reads what the linker wrote into one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def extra(self) -> dict[str, str]:
        return {"LD_DEBUG": "bindings", "LD_DEBUG_OUTPUT": str(self.folder / "bindings")}

    def providers(self, pid: int) -> set[str]:
        """The files whose malloc one process calls.

        A program linked at a fixed address may lend its own entry for malloc to everybody else's function pointers; that
        entry jumps to wherever the program itself is bound. A program with a malloc of its own is bound to nobody else,
        since the program comes first in every search.
        """
        bound: dict[str, set[str]] = {}
        file = self.folder / f"bindings.{pid}"
        if file.exists():
            with file.open(errors="replace") as lines:
                for line in lines:
                    if "`malloc'" in line and (match := BOUND.search(line)):
                        bound.setdefault(match[1], set()).add(match[2])
        targets = set().union(*bound.values())
        return {target for target in targets if LIBRARY.search(target) or not bound.get(target, set()) - {target}}

    def processes(self) -> Iterator[int]:
        for file in self.folder.glob("bindings.*"):
            yield int(file.suffix[1:])

    def objection(self, heap: Heap, pid: int) -> str:
        """Why the run of this process was not one of this heap; "" if it was."""
        mine = self.providers(pid)
        if heap.library is not None and not can_be_preloaded(heap.library):
            return f"not served: {CANNOT_CARRY} {heap.library}"
        if not mine:
            return "not served: the program binds no malloc (is it static, or set-user-id?)"
        if heap.library is None:
            every = set().union(mine, *(self.providers(p) for p in self.processes()))
            strangers = {p for p in every if not Path(p).name.startswith(("libc.so", "libc-"))}
            return f"not the system's malloc: served by {', '.join(sorted(strangers))}" if strangers else ""
        strangers = {p for p in mine if not same_file(p, heap.library)}
        if strangers:
            return f"not served: malloc is that of {', '.join(sorted(strangers))}"
        escaped = [p for p in self.processes() if p != pid and any(not same_file(f, heap.library) for f in self.providers(p))]
        return f"not served in {len(escaped)} of the child processes" if escaped else ""


CANNOT_CARRY = "LD_PRELOAD cannot carry a path with a space or a colon:"


def can_be_preloaded(library: Path) -> bool:
    return not any(letter in str(library) for letter in " :")


def same_file(told: str, library: Path) -> bool:
    path = Path(told)
    return path.exists() and library.exists() and path.samefile(library)


@contextmanager
def witness(folder: Path) -> Iterator[Witness]:
    folder.mkdir(exist_ok=True)
    try:
        yield Witness(folder)
    finally:
        for file in folder.iterdir():
            file.unlink()
