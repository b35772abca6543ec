#!/usr/bin/env python3
"""check_layers [ROOT] — every #include in src/polder goes where src/polder/LAYERS allows, and no file includes itself.

A file with a *_model.cpp beside it is a protocol file: it and what it includes stay within the `protocol:` line, so that
a model checker can run it. What it includes of its own layer is a protocol file too, but for one that has a *_model.hpp
beside it: that is its text in the checker's world.
"""

import re
import sys
from pathlib import Path

from tree import ROOT, end, is_library, library_files

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
SYSTEM_FOLDERS = ("sys/", "linux/")


def read_layers(root: Path) -> dict[str, set[str]]:
    layers: dict[str, set[str]] = {}
    for line in (root / "src" / "polder" / "LAYERS").read_text().splitlines():
        line = line.split("#")[0].strip()
        if line:
            name, _, allowed = line.partition(":")
            layers[name.strip()] = set(allowed.split())
    return layers


def cycle(graph: dict[str, list[str]]) -> list[str]:
    """A way from a node back to itself, or nothing."""
    done: set[str] = set()

    def walk(node: str, path: list[str]) -> list[str]:
        if node in path:
            return [*path[path.index(node):], node]
        if node in done:
            return []
        for following in graph.get(node, []):
            if found := walk(following, [*path, node]):
                return found
        done.add(node)
        return []

    return next((found for node in graph if (found := walk(node, []))), [])


def protocol_files(files: list[Path], base: Path) -> set[Path]:
    """Those with a model, and what they include of their own layers."""
    found: set[Path] = set()
    todo = [p for p in files if p.suffix == ".hpp" and p.with_name(p.stem + "_model.cpp").exists()]
    while todo:
        path = todo.pop()
        if path in found:
            continue
        found.add(path)
        layer = base / path.relative_to(base).parts[0]
        included = [base.parent / name for name in INCLUDE.findall(path.read_text())]
        todo += [p for p in included if layer in p.parents and p.exists()]
    return found


def check(root: Path) -> tuple[int, list[str]]:
    layers = read_layers(root)
    protocol = layers.pop("protocol", set())
    troubles = []
    if found := cycle({name: sorted(allowed) for name, allowed in layers.items()}):
        troubles.append("LAYERS allows a cycle: " + " -> ".join(found))
    base = root / "src" / "polder"
    files = library_files(root)
    protocols = protocol_files(files, base)
    graph: dict[str, list[str]] = {}
    for path in files:
        inside = path.relative_to(base)
        layer = inside.parts[0] if len(inside.parts) > 1 else ""
        if layer not in layers:
            troubles.append(f"src/polder/{inside}: the folder '{layer}' is not in LAYERS")
            continue
        has_model = path in protocols and not path.with_name(path.stem + "_model.hpp").exists()
        allowed = protocol if has_model else layers[layer] | {layer}
        kind = "a protocol file" if has_model else layer
        included = INCLUDE.findall(path.read_text())
        graph[str(inside)] = [name.removeprefix("polder/") for name in included if name.startswith("polder/")]
        for name in included if is_library(path) else []:
            parts = name.split("/")
            if parts[0] == "polder" and len(parts) > 2:
                if parts[1] not in allowed and not (has_model and base / Path(*parts[1:]) in protocols):
                    troubles.append(f"src/polder/{inside}: {kind} may not include <{name}>")
            elif parts[0] in ("polder", "polder.h"):
                if layer != "malloc":
                    troubles.append(f"src/polder/{inside}: only malloc/ knows the public header <{name}>")
            elif (base / name).exists() or (path.parent / name).exists():
                troubles.append(f"src/polder/{inside}: '{name}' is written as <polder/…>")
            elif has_model and name.startswith(SYSTEM_FOLDERS):
                troubles.append(f"src/polder/{inside}: {kind} may not include <{name}>")
    if found := cycle(graph):
        troubles.append("files include each other: " + " -> ".join(found))
    return len(files), troubles


if __name__ == "__main__":
    looked_at, found = check(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT)
    sys.exit(end("check_layers", looked_at, "files", found))
