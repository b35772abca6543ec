"""tree — the library's source files, and their text without what the checkers must not read."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BESIDE = re.compile(r"_(test|model|fuzz|main)\.cpp$")  # not the library itself


def library_files(root: Path) -> list[Path]:
    """Headers and sources under src/polder, sorted; an empty tree is an error, not a success."""
    files = sorted(p for p in (root / "src" / "polder").rglob("*") if p.suffix in (".hpp", ".cpp", ".h"))
    if not files:
        raise SystemExit(f"no source file under {root / 'src' / 'polder'}")
    return files


def is_library(path: Path) -> bool:
    return not BESIDE.search(path.name)


def end(name: str, looked_at: int, what: str, troubles: list[str]) -> int:
    """Prints the troubles or one closing line; the exit status."""
    for trouble in troubles:
        print(trouble)
    print(f"{name}: {looked_at} {what}, {len(troubles)} troubles")
    return 1 if troubles else 0
