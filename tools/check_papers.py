#!/usr/bin/env python3
"""check_papers [ROOT] — docs/papers.md has a row for every id of the seeds, and what the documents name is there.

The documents are README.md, everything under docs/ and the README of every heap. In them

    `path/to/file.hpp`              must exist, from the root, from src/polder/, or from the document's folder
    `file.hpp` · `name`, `other`    each name must occur in that file (the last part of a::b counts)
    [text](path)                    must exist, from the document's folder

and the README's catalogue has a row for every registered heap, each table of options one for every option of the flagship.
"""

import re
import sys
from pathlib import Path

from tree import ROOT, end

IDS = [f"{letter}{n}" for letter, last in (("S", 55), ("M", 38), ("T", 31), ("L", 19), ("K", 49), ("X", 5))
       for n in range(1, last + 1)]

FIRST_CELL = re.compile(r"^\|\s*([SMTLKX])(\d+)(?:\s*(?:-|–|…)\s*\1(\d+))?\s*\|(.*)\|\s*$", re.MULTILINE)
ENDS_AS_FILE = re.compile(r"^[\w.+/-]+\.(?:hpp|cpp|c|h|py|sh|md|txt|cmake|in|json|so|a)$|^[\w.+-]+/[\w.+/-]*$")
QUOTED = re.compile(r"`([^`\n]+)`")
NAMES = re.compile(r"`([^`\n]+)` · ((?:`[^`\n]+`(?:,\s+)?)+)")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s#]+)(?:#[^)]*)?\)")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
HEAP = re.compile(r"^ +([a-z0-9_]+)<Host>,? +// (?:heap|sheet)$", re.MULTILINE)
OPTION = re.compile(r'^    \{"([a-z_]+)", ', re.MULTILINE)
TABLES_OF_OPTIONS = "docs/how-to/diagnose.md", "src/polder/heap/polder/README.md"
BUILT = re.compile(r"^(?:build|/|lib/)|\.(?:so|a)$")  # not in the repository


def documents(root: Path) -> list[Path]:
    found = [root / "README.md", *sorted((root / "docs").rglob("*.md")),
             *sorted((root / "src" / "polder" / "heap").glob("*/README.md"))]
    return [p for p in found if p.exists()]


def row_troubles(text: str) -> list[str]:
    seen: dict[str, int] = {}
    troubles = []
    for letter, first, last, rest in FIRST_CELL.findall(text):
        for n in range(int(first), int(last or first) + 1):
            seen[f"{letter}{n}"] = seen.get(f"{letter}{n}", 0) + 1
        if not rest.split("|")[-1].strip():
            troubles.append(f"docs/papers.md: {letter}{first} says nothing of its state")
    troubles += [f"docs/papers.md: {wanted} has no row" for wanted in IDS if wanted not in seen]
    troubles += [f"docs/papers.md: {known} is not an id of the seeds" for known in seen if known not in IDS]
    troubles += [f"docs/papers.md: {known} has {n} rows" for known, n in seen.items() if n > 1]
    return troubles


def resolve(root: Path, document: Path, name: str) -> Path | None:
    for folder in (root, root / "src" / "polder", document.parent):
        if (folder / name).exists():
            return folder / name
    return None


def path_troubles(root: Path, document: Path) -> list[str]:
    where = document.relative_to(root)
    text = FENCE.sub("", document.read_text())
    troubles = []
    for name in QUOTED.findall(text):
        if ENDS_AS_FILE.match(name) and not BUILT.search(name) and not resolve(root, document, name):
            troubles.append(f"{where}: there is no `{name}`")
    for name, listed in NAMES.findall(text):
        file = resolve(root, document, name)
        if not file or not file.is_file():
            continue
        source = file.read_text()
        for symbol in QUOTED.findall(listed):
            last = re.split(r"::|\.", symbol.removesuffix("()"))[-1]
            if not re.search(rf"(?<!\w){re.escape(last)}(?!\w)", source):
                troubles.append(f"{where}: there is no {symbol} in `{name}`")
    for target in LINK.findall(text):
        if "://" not in target and not (document.parent / target).exists():
            troubles.append(f"{where}: the link to {target} leads nowhere")
    return troubles


def catalogue_troubles(root: Path) -> list[str]:
    registry, readme = root / "src" / "polder" / "heap" / "all.hpp", root / "README.md"
    if not registry.exists() or not readme.exists():
        return []
    text = readme.read_text()
    return [f"README.md: the catalogue has no row for {heap}"
            for heap in (name.removesuffix("_heap").replace("_", "-") for name in HEAP.findall(registry.read_text())) if f"\n| `{heap}` |" not in text]


def option_troubles(root: Path) -> list[str]:
    source = root / "src" / "polder" / "heap" / "options_text.cpp"
    if not source.exists():
        return []
    troubles = []
    for table in TABLES_OF_OPTIONS:
        text = (root / table).read_text().partition("\n## Options\n")[2]
        keys = {key for row in text.splitlines() if row.startswith("| `") for key in QUOTED.findall(row.split("|")[1])}
        troubles += [f"{table}: the options have no row for {key}" for key in OPTION.findall(source.read_text()) if key not in keys]
    return troubles


def check(root: Path) -> tuple[int, list[str]]:
    papers = root / "docs" / "papers.md"
    if not papers.exists():
        return 0, ["docs/papers.md is missing"]
    troubles = row_troubles(papers.read_text())
    troubles += catalogue_troubles(root)
    troubles += option_troubles(root)
    found = documents(root)
    for document in found:
        troubles += path_troubles(root, document)
    return len(found), troubles


if __name__ == "__main__":
    looked_at, found = check(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT)
    sys.exit(end("check_papers", looked_at, "documents", found))
