"""What is measured stays what it was when it began: another build in the same checkout, or an upgrade of a program, would give later
runs something else under the same name."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from polder_lab.complaint import Complaint

State = tuple[int, int, int] | None


def state(file: Path) -> State:
    try:
        now = file.stat()
    except OSError:
        return None
    return now.st_ino, now.st_size, now.st_mtime_ns


class Unchanging:
    def __init__(self, files: Iterable[Path]) -> None:
        self.known = {file: state(file) for file in files}

    def check(self) -> None:
        for file, known in self.known.items():
            if state(file) != known:
                raise Complaint(f"{file} has changed since the measuring began (built anew?): what came after that would be of something "
                                "else, so it ends here")
