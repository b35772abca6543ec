"""What is compared: the system's malloc, the registered heaps, known peers, any shared library."""

from __future__ import annotations

import glob
import json
import os
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from polder_lab.complaint import Complaint, nearest, unknown
from polder_lab.place import Place


@dataclass(frozen=True)
class Heap:
    name: str
    kind: str  # system, polder, peer, file
    title: str = ""
    library: Path | None = None  # None: not installed, or the malloc the program comes with
    paper: str = ""
    year: str = ""
    summary: str = ""
    progress: str = ""
    package: str = ""  # Debian's, for peers
    version: str = ""

    @property
    def present(self) -> bool:
        return self.kind == "system" or (self.library is not None and self.library.exists())

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "library": str(self.library) if self.library else None, "present": self.present}


SYSTEM = Heap("system", "system", "the system's malloc", summary="The C library's own malloc, with nothing preloaded.",
              progress="blocking")

# Peers by the name people use; files in the order of preference.
PEERS: tuple[tuple[Heap, tuple[str, ...]], ...] = (
    (Heap("jemalloc", "peer", "jemalloc", year="2006", package="libjemalloc2",
          summary="Evans' allocator, of FreeBSD: arenas, thread caches, decay."), ("libjemalloc.so.2", "libjemalloc.so")),
    (Heap("mimalloc", "peer", "mimalloc", year="2019", package="libmimalloc2.0",
          summary="Microsoft's allocator: free lists sharded by page."), ("libmimalloc.so.2", "libmimalloc.so.3", "libmimalloc.so")),
    (Heap("tcmalloc", "peer", "tcmalloc of gperftools", year="2005", package="libtcmalloc-minimal4",
          summary="Thread-caching malloc: thread caches over central lists and a page heap."),
     ("libtcmalloc_minimal.so.4", "libtcmalloc_minimal.so")),
    (Heap("tbb", "peer", "tbbmalloc of oneTBB", year="2007", package="libtbbmalloc2",
          summary="Intel's scalable allocator, descended from McRT-Malloc."), ("libtbbmalloc_proxy.so.2", "libtbbmalloc_proxy.so")),
)


def library_folders() -> list[str]:
    folders = ["/usr/local/lib", *glob.glob("/usr/lib/*-linux-gnu*"), "/usr/lib64", "/usr/lib"]
    return [folder for folder in folders if os.path.isdir(folder)]


def peers(folders: list[str] | None = None) -> list[Heap]:
    found = []
    for peer, files in PEERS:
        candidates = (Path(folder, file) for file in files for folder in (folders or library_folders()))
        found.append(Heap(**{**asdict(peer), "library": next((path for path in candidates if path.exists()), None)}))
    return found


def registered(place: Place) -> list[Heap]:
    """The heaps in the library's registry, as the built polder-registry tells them."""
    if not place.registry.exists():
        return []
    try:
        told = subprocess.run([place.registry], capture_output=True, text=True, timeout=20, check=True).stdout
        entries = json.loads(told)["heaps"]
    except (OSError, subprocess.SubprocessError, ValueError, KeyError) as why:
        raise Complaint(f"{place.registry} does not tell the registry: {why}") from why
    heaps = []
    for entry in entries:
        library = Path(entry.get("library") or f"libpolder-{entry['name']}.so")
        if not library.is_absolute():
            library = next((p for p in (place.libraries / library.name, place.build / library) if p.exists()),
                           place.libraries / library.name)
        heaps.append(Heap(entry["name"], "polder", entry.get("title", ""), library, entry.get("paper", ""),
                          str(entry.get("year", "")), entry.get("summary", ""), entry.get("progress", "")))
    return heaps


def built_peers(place: Place) -> list[Heap]:
    """The peers that `polder peers build` has made: a library and what it is, side by side."""
    built = []
    for sheet in sorted(place.peers.glob("*.json")):
        try:
            told = json.loads(sheet.read_text())
            built.append(Heap(told["name"], "peer", told.get("title", ""), place.peers / told["library"], told.get("paper", ""),
                              str(told.get("year", "")), told.get("summary", ""), version=str(told.get("version", ""))))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as why:
            raise Complaint(f"{sheet} does not describe a peer: {why!r} (./polder peers build makes it again)") from why
    return built


def catalogue(place: Place) -> list[Heap]:
    """A peer that was built stands for the installed one of its name: it was made for this."""
    built = built_peers(place)
    return [*registered(place), SYSTEM, *built, *(peer for peer in peers() if peer.name not in {b.name for b in built})]


def find(name: str, place: Place) -> Heap:
    """One heap by name, or by the path of its library."""
    if "/" in name or name.endswith(".so"):
        path = Path(name).expanduser().resolve()
        if not path.is_file():
            raise Complaint(f"there is no library {name}")
        return Heap(path.name.split(".so")[0].removeprefix("lib"), "file", path.name, path)
    heaps = catalogue(place)
    for heap in heaps:
        if heap.name == name:
            return heap
    if not place.registry.exists():
        near = ", ".join(nearest(name, [h.name for h in heaps]))
        raise Complaint(f"there is no heap '{name}' (nearest: {near}); Polder's own are not built: {place.registry} is missing")
    raise unknown("heap", name, [h.name for h in heaps])


def choose(names: list[str], place: Place) -> tuple[list[Heap], list[str]]:
    """The heaps to compare with the system's, and a line for each one that is left out. 'all' means all present."""
    wanted: list[Heap] = []
    for name in names:
        wanted += [h for h in catalogue(place) if h.kind != "system"] if name == "all" else [find(name, place)]
    chosen: dict[str, Heap] = {}
    left_out = []
    for heap in wanted:
        if heap.kind == "system":
            continue
        while heap.name in chosen and chosen[heap.name].library != heap.library:
            heap = Heap(**{**asdict(heap), "name": heap.name + "'"})
        if heap.present:
            chosen[heap.name] = heap
        elif heap.kind == "peer":
            left_out.append(f"{heap.name}: not installed (apt-get install {heap.package})")
        else:
            left_out.append(f"{heap.name}: {heap.library} is not built")
    if not chosen:
        raise Complaint("no heap to compare with the system's malloc\n" + "\n".join("  " + line for line in left_out))
    return list(chosen.values()), left_out
