"""Fakes, so that the laboratory is tested without a built library: heaps that are glibc's malloc with one habit each."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect
from resident import Resident

from polder_lab.launch import Launcher, build_launcher, inherited

LAB = Path(__file__).resolve().parents[1]
FAKE = Path(__file__).with_name("fake")
Laboratory = Callable[..., subprocess.CompletedProcess[str]]

# A page draws when the processor is free, and other tests and compilers run beside it.
expect.set_options(timeout=60_000)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get("POLDER_TEST_FULL") == "1":
        return
    for item in items:
        if item.get_closest_marker("long"):
            item.add_marker(pytest.mark.skip(reason="in the full form only"))


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    folder = tmp_path_factory.mktemp("heaps")

    def heap(habit: str = "") -> Path:
        """The library libHABIT.so; "" has no habit at all."""
        made = folder / f"lib{habit.lower() or 'plain'}.so"
        if not made.exists():
            define = [f"-D{habit}"] if habit else []
            subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-fno-builtin", *define, "-o", made, FAKE / "heap.c"], check=True, timeout=60)
        return made

    return heap


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory, compiled: Callable[[str], Path]) -> Path:
    """A build folder with fakes in it."""
    folder = tmp_path_factory.mktemp("build")
    (folder / "bin").mkdir()
    (folder / "lib").mkdir()
    for name in ("polder-bench", "polder-mistakes", "polder-probe", "polder-registry", "polder-structures"):
        shutil.copy(FAKE / name, folder / "bin" / name)
        # Without site's packages: they start thousands of times, and that is most of what they do.
        script = (FAKE / name).read_text().replace("/usr/bin/env python3", f"{Path(sys.executable).resolve()} -IS")
        (folder / "bin" / name).write_text(script)
    shutil.copy(compiled(""), folder / "lib" / "libpolder.so")
    return folder


@pytest.fixture
def own_library(build: Path) -> Iterator[Path]:
    """Polder's in that folder, which a test may spoil."""
    library = build / "lib" / "libpolder.so"
    kept = library.read_bytes()
    yield library
    library.unlink(missing_ok=True)
    library.write_bytes(kept)


@pytest.fixture(scope="session")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Stands for the checkout, so that nothing is written into the real one."""
    return tmp_path_factory.mktemp("root")


@pytest.fixture
def launcher(root: Path, tmp_path: Path) -> Launcher:
    return Launcher(build_launcher(root / "build" / "lab"), tmp_path)


@pytest.fixture
def environment(root: Path) -> dict[str, str]:
    """Without what polars sets for its own jemalloc as soon as a test loads it."""
    return {**inherited(), "PYTHONPATH": str(LAB), "POLDER_ROOT": str(root), "COLUMNS": "100"}


@pytest.fixture(scope="session")
def resident() -> Iterator[Resident]:
    one = Resident({**os.environ, "PYTHONPATH": str(LAB)})
    yield one
    one.end()


@pytest.fixture
def laboratory(tmp_path: Path, environment: dict[str, str], resident: Resident) -> Laboratory:
    """Calls the laboratory, in an empty folder."""

    def call(*words: str | Path, extra: dict[str, str] | None = None, stdin: int = subprocess.DEVNULL) -> subprocess.CompletedProcess[str]:
        return resident.call([*map(str, words)], {**environment, **(extra or {})}, tmp_path, stdin, timeout=100)

    return call


@pytest.fixture
def polder(build: Path, laboratory: Laboratory) -> Laboratory:
    """Calls it as the front door does: with a build folder, and where it says."""

    def call(*arguments: str, extra: dict[str, str] | None = None, stdin: int = subprocess.DEVNULL) -> subprocess.CompletedProcess[str]:
        command = arguments[0]
        words = 2 if command in ("list", "bench") else 1
        where = [*arguments[:words], "--build", str(build), *arguments[words:]]
        return laboratory(*where, extra=extra, stdin=stdin)

    return call
