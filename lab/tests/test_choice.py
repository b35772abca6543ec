from __future__ import annotations

import sys
from pathlib import Path

import pytest

from polder_lab import heap
from polder_lab.complaint import Complaint, nearest, unknown
from polder_lab.place import Place
from polder_lab.row import Row, matches


@pytest.fixture
def where(build: Path, tmp_path: Path) -> Place:
    return Place(tmp_path, build)


@pytest.mark.parametrize(("word", "first"), [("jemaloc", "jemalloc"), ("mi", "mimalloc"), ("poldr", "polder"), ("JEMALLOC", "jemalloc")])
def test_nearest(word: str, first: str) -> None:
    assert nearest(word, ["polder", "jemalloc", "mimalloc", "tcmalloc"])[0] == first


def test_nearest_always_offers_something() -> None:
    assert nearest("zzzz", ["polder", "jemalloc"]) == ["polder", "jemalloc"]
    assert "none at all" in str(unknown("heap", "x", []))


@pytest.mark.parametrize(("patterns", "name", "threads", "expected"), [
    ([], "larson", 8, True), (["lars"], "larson", 8, True), (["larson/8"], "larson", 8, True), (["larson/8"], "larson", 1, False),
    (["*/8"], "larson", 8, True), (["/8"], "larson", 8, True), (["/8"], "larson", 1, False), (["p*"], "python", None, True),
    (["p*"], "sqlite", None, False), (["git", "jq"], "jq", None, True),
])
def test_patterns(patterns: list[str], name: str, threads: int | None, expected: bool) -> None:
    assert matches(name, threads, patterns) is expected


def test_what_a_run_is_of(tmp_path: Path) -> None:
    """A server's program is a word of its job; what a command of the user's names besides may be what it writes."""
    job, server = tmp_path / "job.py", tmp_path / "server"
    for file in (job, server):
        file.touch()
    words = (sys.executable, "-S", str(job), str(server), str(tmp_path), "0.5", "server")
    assert Row("redis", "program", words).files == [Path(sys.executable), job, server]
    assert Row("python", "command", words).files == [Path(sys.executable)]


def test_registered_heaps_come_from_the_registry(where: Place) -> None:
    found = {h.name: h for h in heap.registered(where)}
    assert found["polder"].library == where.libraries / "libpolder.so"
    assert found["polder"].present
    assert not found["absent"].present
    assert found["absent"].year == "1999"


def test_a_missing_heap_is_named_and_left_out(where: Place) -> None:
    chosen, left_out = heap.choose(["polder", "absent"], where)
    assert [h.name for h in chosen] == ["polder"]
    assert len(left_out) == 1
    assert left_out[0].startswith("absent: ")


def test_all_means_no_sheets(where: Place) -> None:
    every = [h.name for h in heap.choose(["all"], where)[0]]
    assert "polder" in every
    assert "polder-too" not in every
    assert [h.name for h in heap.choose(["polder-too"], where)[0]] == ["polder-too"]


def test_nothing_left_is_a_complaint(where: Place) -> None:
    with pytest.raises(Complaint, match="not built"):
        heap.choose(["absent"], where)


def test_a_peer_that_is_not_installed_names_its_package(tmp_path: Path) -> None:
    absent = heap.peers([str(tmp_path)])
    assert {h.package for h in absent} >= {"libjemalloc2", "libmimalloc2.0"}
    assert not any(h.present for h in absent)
    (tmp_path / "libjemalloc.so.2").touch()
    assert [h.name for h in heap.peers([str(tmp_path)]) if h.present] == ["jemalloc"]


def test_what_a_heap_runs_with() -> None:
    tuned = heap.Heap("x", "peer", library=Path("x.so"), settings=(("TUNED", "1"),))
    assert tuned.environment == {"LD_PRELOAD": "x.so", "TUNED": "1"}
    assert heap.SYSTEM.environment == {}
    assert {h.name for h in heap.peers() if h.settings and not h.secure_of} == {"tcmalloc-google"}


def test_a_library_by_path(where: Place) -> None:
    chosen, _ = heap.choose([str(where.libraries / "libpolder.so"), "polder"], where)
    assert [h.name for h in chosen] == ["polder"]
    with pytest.raises(Complaint, match="no library"):
        heap.choose(["./nowhere.so"], where)


@pytest.mark.parametrize("file", ["libsystem.so", "system.so"])
def test_a_library_is_not_called_as_what_it_is_compared_with(where: Place, tmp_path: Path, file: str) -> None:
    library = tmp_path / file
    library.touch()
    chosen, _ = heap.choose([str(library)], where)
    assert [(h.name, h.library) for h in chosen] == [("system'", library)]


def test_an_unknown_heap_offers_the_nearest(where: Place) -> None:
    with pytest.raises(Complaint, match="nearest: polder"):
        heap.choose(["poldr"], where)


def test_a_registry_that_talks_nonsense_is_a_complaint(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    broken = tmp_path / "bin" / "polder-registry"
    broken.write_text("#!/bin/sh\necho nonsense\n")
    broken.chmod(0o755)
    with pytest.raises(Complaint, match="does not tell the registry"):
        heap.registered(Place(tmp_path, tmp_path))
