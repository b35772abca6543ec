#!/usr/bin/env python3
"""check_registry PROGRAM HEAPS SHEETS [ROOT] — the registry of heaps says the same to everybody who reads it.

PROGRAM is polder-registry, the compiled truth. HEAPS and SHEETS are what the build read from heap/all.hpp, separated by
semicolons. A sheet names its heap. Every name is unique and well formed, every sentence is there, every library is built, and every folder
under src/polder/heap belongs to an entry.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

from tree import ROOT, end

TEXTS = ("title", "paper", "summary", "progress")
PROGRESS = ("wait-free", "lock-free", "blocking")


def check(told: str, names: list[str], sheets: list[str], root: Path, build: Path | None) -> tuple[int, list[str]]:
    heaps = json.loads(told)["heaps"]
    registered = [heap["name"] for heap in heaps]
    troubles = []
    if not heaps:
        troubles.append("the registry is empty")
    if sorted(registered) != sorted(names + sheets):
        troubles.append(f"the registry holds {registered}, the build read {names + sheets} from src/polder/heap/all.hpp")
    for heap in heaps:
        name = heap["name"]
        if not re.fullmatch(r"[a-z][a-z0-9-]*", name):
            troubles.append(f"'{name}' is not a name in small letters, figures and hyphens")
        if registered.count(name) > 1:
            troubles.append(f"'{name}' is registered twice")
        of = heap.get("sheet_of", "")
        if bool(of) != (name in sheets) or (of and of not in names):
            troubles.append(f"{name}: a sheet of '{of}', and all.hpp lists it as a {'sheet' if name in sheets else 'heap'}")
        troubles += [f"{name}: no {text}" for text in TEXTS if not heap.get(text)]
        if not heap.get("progress", "").startswith(PROGRESS):
            troubles.append(f"{name}: progress begins with one of {', '.join(PROGRESS)}")
        if not 1960 <= heap.get("year", 0) <= 2100:
            troubles.append(f"{name}: the year is {heap.get('year')}")
        if build and not (build / heap["library"]).exists():
            troubles.append(f"{name}: {heap['library']} is not built")
    all_hpp = root / "src" / "polder" / "heap" / "all.hpp"
    included = re.findall(r"#include <polder/heap/([a-z0-9_]+)/", all_hpp.read_text())
    for folder in sorted(p for p in all_hpp.parent.iterdir() if p.is_dir()):
        if folder.name not in included:
            troubles.append(f"src/polder/heap/{folder.name}/ is in no registry")
    return len(heaps), troubles


if __name__ == "__main__":
    program = Path(sys.argv[1])
    heaps, sheets = ([name for name in text.split(";") if name] for text in sys.argv[2:4])
    told = subprocess.run([program], capture_output=True, text=True, check=True, timeout=20).stdout
    looked_at, found = check(told, heaps, sheets, Path(sys.argv[4]) if len(sys.argv) > 4 else ROOT, program.resolve().parents[1])
    sys.exit(end("check_registry", looked_at, "heaps", found))
