"""Where things are: the checkout, the build, and a folder for what the laboratory itself builds."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Place:
    root: Path
    build: Path

    @property
    def registry(self) -> Path:
        return self.build / "bin" / "polder-registry"

    @property
    def structures(self) -> Path:
        return self.build / "bin" / "polder-structures"

    @property
    def bench(self) -> Path:
        return self.build / "bin" / "polder-bench"

    @property
    def harness(self) -> list[Path]:
        """The program of the workloads, and what it loads: structures and reclaimers are compiled into these."""
        return [self.bench, *sorted(self.libraries.glob("libpolder_bench_*.so"))]

    @property
    def probe(self) -> Path:
        return self.build / "bin" / "polder-probe"

    @property
    def mistakes(self) -> Path:
        return self.build / "bin" / "polder-mistakes"

    @property
    def libraries(self) -> Path:
        return self.build / "lib"

    @property
    def results(self) -> Path:
        return self.root / "results"

    @property
    def own(self) -> Path:
        """For what the laboratory compiles for itself; apart from the presets' folders, which CMake may wipe."""
        return self.root / "build" / "lab"

    @property
    def peers(self) -> Path:
        """Rivals that were built here: lib/NAME.so and lib/NAME.json."""
        return self.root / "build" / "peers"


def find(build: Path | None = None) -> Place:
    root = Path(os.environ.get("POLDER_ROOT", Path(__file__).resolve().parents[2]))
    return Place(root, build or root / "build" / "release")
