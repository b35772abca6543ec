"""What is compared: the system's malloc, the registered heaps, known peers, any shared library."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from polder_lab.complaint import Complaint, nearest, unknown
from polder_lab.peer import PEERS, debian
from polder_lab.peer.described import Peer
from polder_lab.place import Place

PEER_KINDS = frozenset({"peer", "system"})  # what was there before


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
    package: str = ""  # Debian's, for peers; a|b where releases differ
    version: str = ""  # of a peer that is there
    origin: str = ""  # of a peer that is there: its crate or package
    also: tuple[str, ...] = ()  # names by which it is found as well
    sheet_of: str = ""  # of Polder's: the heap that it is a variant of
    options: tuple[dict[str, str], ...] = ()  # of POLDER_OPTIONS that it has and others do not: name, takes, default
    settings: tuple[tuple[str, str], ...] = ()  # environment variables that it is meant to run with
    secure: str = ""  # what makes it look for a program's mistakes, where that is what it is for
    secure_of: str = ""  # of peers: the one of which it is a build that does so

    @property
    def environment(self) -> dict[str, str]:
        """What makes a program run on it."""
        return {**dict(self.settings), **({"LD_PRELOAD": str(self.library)} if self.library else {})}

    @property
    def variant(self) -> str:
        """What it is a variant of, in words; such a heap is asked for by name only."""
        return f"a sheet of {self.sheet_of}" if self.sheet_of else f"a secure build of {self.secure_of}" if self.secure_of else ""

    @property
    def present(self) -> bool:
        return self.kind == "system" or (self.library is not None and self.library.exists())

    @property
    def how_to_get(self) -> str:
        """What to type for a heap that is missing."""
        return f"./polder peers build {self.name}" if self.kind == "peer" else "not built"

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "library": str(self.library) if self.library else None, "present": self.present}


ALL = "all"  # stands for all that are present, no variants
SYSTEM = Heap("system", "system", "the system's malloc", summary="The C library's own malloc, with nothing preloaded.",
              progress="blocking")

def peers(folders: list[str] | None = None, made: Path | None = None) -> list[Heap]:
    """The known rivals: those in made (build/peers) as they were built, the others as the libraries in folders."""
    searched = folders or debian.library_folders()
    libraries = {peer.name: path for peer in PEERS if (path := debian.library(peer, searched))}
    owners = debian.owners(tuple(libraries.values()))
    return [built_peer(peer, made) or debian_peer(peer, libraries.get(peer.name), owners) for peer in PEERS]


def built_peer(peer: Peer, made: Path | None) -> Heap | None:
    if peer.crate is None or made is None:
        return None
    library = made / "lib" / f"{peer.name}.so"
    if not library.exists():
        return None
    try:
        told = json.loads(library.with_suffix(".json").read_text())
    except (OSError, ValueError):
        told = {}
    return Heap(peer.name, "peer", peer.title, library, year=peer.year, summary=peer.summary, package=peer.package,
                version=told.get("version", ""), origin=told.get("origin", ""), also=peer.also,
                settings=peer.settings, secure=peer.secure, secure_of=peer.secure_of)


def debian_peer(peer: Peer, library: Path | None, owners: dict[Path, tuple[str, str]]) -> Heap:
    owner, version = owners.get(library, ("", "")) if library else ("", "")
    return Heap(peer.name, "peer", peer.title, library, year=peer.year, summary=peer.summary, package=peer.package, version=version,
                origin=f"Debian's {owner}" if owner else "", also=peer.also, settings=peer.settings, secure=peer.secure,
                secure_of=peer.secure_of)


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
                          str(entry.get("year", "")), entry.get("summary", ""), entry.get("progress", ""),
                          sheet_of=entry.get("sheet_of", ""),
                          options=tuple(entry.get("options", ()))))
    return heaps


def catalogue(place: Place) -> list[Heap]:
    return [*registered(place), SYSTEM, *peers(made=place.peers)]


def find(name: str, place: Place) -> Heap:
    """One heap by name, or by the path of its library."""
    if "/" in name or name.endswith(".so"):
        path = Path(name).expanduser().resolve()
        if not path.is_file():
            raise Complaint(f"there is no library {name}")
        return Heap(path.name.split(".so")[0].removeprefix("lib"), "file", path.name, path)
    heaps = catalogue(place)
    for heap in heaps:
        if name in (heap.name, *heap.also):
            return heap
    if not place.registry.exists():
        near = ", ".join(nearest(name, [h.name for h in heaps]))
        raise Complaint(f"there is no heap '{name}' (nearest: {near}); Polder's own are not built: {place.registry} is missing")
    raise no_such(name, [h.name for h in heaps])


def no_such(name: str, known: Iterable[str]) -> Complaint:
    if name in ("glibc", "libc", "ptmalloc", "ptmalloc2"):
        return Complaint(f"there is no heap '{name}'; the C library's malloc is called {SYSTEM.name} here")
    return unknown("heap", name, known)


def choose(names: list[str], place: Place) -> tuple[list[Heap], list[str]]:
    """The heaps to compare with the system's, and a line for each one that is left out. 'all' means all present, but no variants."""
    wanted: list[Heap] = []
    for name in names:
        wanted += [h for h in catalogue(place) if h.kind != "system" and not h.variant] if name == ALL else [find(name, place)]
    chosen = {SYSTEM.name: SYSTEM}  # who all are compared with; its name is taken
    left_out = []
    for heap in wanted:
        if heap.kind == "system":
            continue
        while heap.name in chosen and chosen[heap.name].library != heap.library:
            heap = Heap(**{**asdict(heap), "name": heap.name + "'"})
        if heap.present:
            chosen[heap.name] = heap
        elif heap.kind == "peer":
            left_out.append(f"{heap.name}: not there ({heap.how_to_get})")
        else:
            left_out.append(f"{heap.name}: {heap.library} is not built")
    del chosen[SYSTEM.name]
    if not chosen:
        raise Complaint("no heap to compare with the system's malloc\n" + "\n".join("  " + line for line in left_out))
    return list(chosen.values()), left_out
