"""The file of records of an experiment: one JSON object a line (docs/design/0002-laboratory.md).

A line is written whole as soon as its repetition is finished. If that fails - a full disk, a limit - what was written of
it is cut off again and all lines before it stand. A last line that was cut off by a kill is no record.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from polder_lab.complaint import Complaint

FORMAT = 1
SUFFIX = ".jsonl"

Record = Mapping[str, Any]


class Journal:
    def __init__(self, file: Path, *, again: bool = False) -> None:
        """again: the file is there and is continued."""
        self.file = file
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            self.descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | (0 if again else os.O_CREAT | os.O_EXCL), 0o644)
            fcntl.flock(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if again:
                os.ftruncate(self.descriptor, whole_lines(file.read_bytes()))
        except BlockingIOError as why:
            raise Complaint(f"{file} is being written: its experiment is going on") from why
        except OSError as why:
            raise Complaint(f"cannot write {file}: {why.strerror}") from why

    def write(self, record: Record) -> None:
        line = json.dumps(record, separators=(",", ":")).encode() + b"\n"
        end = os.fstat(self.descriptor).st_size
        try:
            written = 0
            while written < len(line):
                written += os.write(self.descriptor, line[written:])
        except OSError as why:
            os.ftruncate(self.descriptor, end)
            raise Complaint(f"cannot write {self.file}: {why.strerror}"
                            + ("; what was finished before is in it, and --resume continues it" if end else "")) from why

    def sync(self) -> None:
        """What is written stays, even if the machine stops."""
        os.fsync(self.descriptor)

    def close(self) -> None:
        os.close(self.descriptor)


def begin(file: Path, experiment: Record) -> Journal:
    """A new one with its first record. Where that cannot be written there is no file: nothing could be made of it."""
    journal = Journal(file)
    try:
        journal.write(experiment)
    except BaseException:
        journal.close()
        file.unlink()
        raise
    return journal


def whole_lines(content: bytes) -> int:
    """How much of it are finished lines."""
    end = content.rfind(b"\n") + 1
    last = content[:end].rstrip(b"\n").rfind(b"\n") + 1
    try:
        json.loads(content[last:end] or b"{}")
    except ValueError:
        return last
    return end


def read(file: Path) -> list[Record]:
    """All records; the first is the experiment. A line that is none is an error, but for a last one that was cut off."""
    content = content_of(file)
    records = []
    for number, line in enumerate(content[:whole_lines(content)].splitlines(), 1):
        try:
            records.append(parsed(line))
        except ValueError as why:
            raise Complaint(f"{file}, line {number} is not a record of an experiment: {why}") from why
    return begun(records, file)


def read_what_stands(file: Path) -> tuple[list[Record], int]:
    """The records, and how many lines are none."""
    records, damaged = [], 0
    for line in content_of(file).splitlines():
        try:
            records.append(parsed(line))
        except ValueError:
            damaged += 1
    return begun(records, file), damaged


def content_of(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as why:
        raise Complaint(f"cannot read {file}: {why.strerror}") from why


def parsed(line: bytes) -> Record:
    record = json.loads(line)
    if not isinstance(record, dict) or "record" not in record:
        raise ValueError("no record")
    if record["record"] == "run" and not (isinstance(record.get("round"), int) and has_words(record, "pass", "row", "subject")):
        raise ValueError("no repetition of anything")
    return record


def has_words(record: Any, *names: str) -> bool:
    return isinstance(record, dict) and all(isinstance(record.get(name), str) for name in names)


def begun(records: list[Record], file: Path) -> list[Record]:
    if not records or records[0]["record"] != "experiment":
        raise Complaint(f"{file} is not the record of an experiment")
    if records[0].get("format") != FORMAT:
        raise Complaint(f"{file} has format {records[0].get('format')}; this reads {FORMAT}")
    for part, names in (("subjects", ("name",)), ("rows", ("id", "name"))):
        told = records[0].get(part)
        if not isinstance(told, list) or not told or not all(has_words(one, *names) for one in told):
            raise Complaint(f"{file} is damaged: its first record does not say of which {part} it is")
    if not has_words(records[0], "name"):
        raise Complaint(f"{file} is damaged: its first record has no name")
    return records


def newest(folder: Path) -> Path:
    """The file that was written to last, of those that have a first record: a kill may leave one without."""
    files = sorted(filter(has_begun, folder.glob(f"*{SUFFIX}")), key=lambda file: file.stat().st_mtime)
    if not files:
        raise Complaint(f"there are no records in {folder}; make some: ./polder bench run --quick")
    return files[-1]


def has_begun(file: Path) -> bool:
    try:
        with file.open("rb") as lines:
            return lines.readline().endswith(b"\n")
    except OSError:
        return True  # reading it will say why not
