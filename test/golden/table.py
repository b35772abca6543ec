"""A golden file: figures that no noise disturbs, kept beside the code, so that a change that worsens one must say so.

A line is a name, a figure for each column, and what the name means; a line that begins with # is for the reader.
"""

import argparse
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

Row = tuple[float, ...]


def arguments(what: str, program: str, counter: str) -> argparse.Namespace:
    """A library, a program, a golden file, and whether to write it; `counter` must be installed."""
    parser = argparse.ArgumentParser(description=what, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument(program)
    parser.add_argument("golden", type=Path)
    parser.add_argument("--update", action="store_true")
    asked = parser.parse_args()
    if shutil.which(counter) is None:
        sys.exit(f"{counter} is missing: apt-get install {counter}")
    return asked


def read(file: Path, columns: tuple[str, ...]) -> dict[str, Row]:
    lines = [line.split() for line in (file.read_text().splitlines() if file.exists() else []) if line.strip() and line[0] != "#"]
    return {name: tuple(map(float, rest[:len(columns)])) for name, *rest in lines}


def write(file: Path, head: str, found: dict[str, Row], meaning: dict[str, str]) -> None:
    width = widest(found)
    lines = [f"{name:<{width}}{''.join(f'{x:>12.1f}' for x in row)}   {meaning[name]}".rstrip() for name, row in found.items()]
    file.write_text("".join(f"{line}\n" for line in (head, *lines)))


def verdict(file: Path, columns: tuple[str, ...], found: dict[str, Row], off: Callable[[str, int, float, float], bool]) -> int:
    """Prints golden and found figures side by side, and is the exit status: 1 if one is `off(name, column, golden, found)`."""
    golden = read(file, columns)
    if not golden:
        print(f"{file}: no figures; make them with --update")
        return 1
    wrong = sorted(golden.keys() ^ found.keys())
    for name in wrong:
        print(f"{name}: only in {'the golden file' if name in golden else 'the program'}")
    width = widest(found)
    print(f"{'':<{width}}" + "".join(f"{column:>24}" for column in columns) + f"\n{'':<{width}}" + f"{'golden':>12}{'found':>12}" * len(columns))
    for name in (name for name in found if name in golden):
        pairs = list(zip(golden[name], found[name], strict=True))
        differs = any(off(name, column, was, now) for column, (was, now) in enumerate(pairs))
        wrong += [name] * differs
        print(f"{name:<{width}}" + "".join(f"{was:>12.1f}{now:>12.1f}" for was, now in pairs) + "   differs" * differs)
    if wrong:
        print("If that is meant, refresh the file with --update and say why in the commit.")
    return 1 if wrong else 0


def widest(found: dict[str, Row]) -> int:
    return max(map(len, found)) + 2
