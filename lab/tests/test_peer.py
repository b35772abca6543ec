from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import FAKE, LAB, Laboratory

from polder_lab import heap
from polder_lab.heap import Heap
from polder_lab.peer import PEERS, crate, debian
from polder_lab.peer.described import Crate, Inside, Peer, dotted
from polder_lab.peer.trial import Notebook, attempt
from polder_lab.place import Place

OWN = Peer("own", "Own", "2026", "A fake.", Crate("fake-sys", r"\+([0-9.]+)-", names={
    f"own_{name}": name for name in ("malloc", "free", "calloc", "realloc")}))


@pytest.fixture
def where(build: Path, tmp_path: Path) -> Place:
    return Place(tmp_path, build)


@pytest.fixture
def cargo(tmp_path: Path) -> str:
    program = tmp_path / "bin" / "cargo"
    program.parent.mkdir()
    program.write_text((FAKE / "cargo").read_text().replace("/usr/bin/env python3", str(Path(sys.executable).resolve())))
    program.chmod(0o755)
    return str(program)


def made(cargo: str, where: Place, peer: Peer = OWN) -> crate.Made:
    assert peer.crate is not None
    return crate.build(peer, peer.crate, cargo, where.root, where.peers)


def test_names_are_unique() -> None:
    names = [name for peer in PEERS for name in (peer.name, *peer.also)]
    assert len(set(names)) == len(names)


def test_each_crate_is_locked_under_the_peer_s_name() -> None:
    manifest = tomllib.loads((LAB / "peers" / "Cargo.toml").read_text())
    locked = {package["name"] for package in tomllib.loads((LAB / "peers" / "Cargo.lock").read_text())["package"]}
    from_crates = {peer.name: peer.crate.name for peer in PEERS if peer.crate}
    assert set(manifest["features"]) == set(from_crates)
    for name, source in from_crates.items():
        assert f"dep:{source}" in manifest["features"][name]
        assert source in locked


@pytest.mark.parametrize(("debian_s", "upstream"), [("5.3.0-1", "5.3.0"), ("2.0.9+ds-2", "2.0.9"), ("1:19.1.7-3~deb12u1", "19.1.7"),
                                                   ("2021.8.0-2+deb12u1", "2021.8.0"), ("2.10", "2.10"), ("", "")])
def test_upstream_versions(debian_s: str, upstream: str) -> None:
    assert debian.upstream(debian_s) == upstream


def test_versions_of_crates(tmp_path: Path) -> None:
    (tmp_path / "m.h").write_text("#define MI_MALLOC_VERSION 30302  // 3.3.2\n")
    assert Crate("x", Inside("m.h", r"VERSION\s+(\d+)")).allocator_version("0.1", tmp_path) == "3.3.2"
    assert Crate("x", Inside("absent.h", r"(\d+)")).allocator_version("0.1", tmp_path) == ""
    assert Crate("x", r"\+([0-9.]+)-").allocator_version("0.7.1+5.3.1-0-g81", tmp_path) == "5.3.1"
    assert dotted("2026071503") == "2026071503"


@pytest.mark.parametrize("identity", ["registry+somewhere#fake-sys@1.2.3", "fake-sys 1.2.3 (registry+somewhere)"])
def test_cargo_s_identities(identity: str) -> None:
    assert crate.package(identity) == {"fake-sys": "1.2.3"}


def test_a_crate_becomes_a_library_that_serves_malloc(cargo: str, where: Place) -> None:
    told = made(cargo, where)
    assert (told.version, told.origin) == ("7.8", "crate fake-sys 0.3.1+7.8")
    assert json.loads((where.peers / "lib" / "own.json").read_text())["built_with"] == told.built_with != ""
    assert attempt(Heap("own", "peer", library=Path(told.library)), where) == ""


def test_flags_reach_the_compiler(cargo: str, where: Place) -> None:
    assert OWN.crate is not None
    renamed = replace(OWN, crate=replace(OWN.crate, flags="-Down_malloc=elsewhere"))
    with pytest.raises(crate.CannotBuild, match="does not link"):
        made(cargo, where, renamed)
    assert not (where.peers / "lib" / "own.so").exists()


def test_a_crate_that_does_not_build_says_why(cargo: str, where: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_CARGO_FAILS", "1")
    with pytest.raises(crate.CannotBuild, match="error: no such word"):
        made(cargo, where)


def test_an_old_cargo_is_none(cargo: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(Path(cargo).parent), prepend=":")
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    assert crate.cargo() == cargo
    monkeypatch.setenv("FAKE_CARGO", "0.66.0")
    assert crate.cargo_version(cargo) == (0, 66)
    assert crate.cargo() != cargo


def test_a_built_rival_replaces_debian_s(tmp_path: Path) -> None:
    folder, built = tmp_path / "debian", tmp_path / "peers"
    (built / "lib").mkdir(parents=True)
    folder.mkdir()
    (folder / "libjemalloc.so.2").touch()

    def jemalloc() -> Heap:
        return next(h for h in heap.peers([str(folder)], built) if h.name == "jemalloc")

    assert jemalloc().library == folder / "libjemalloc.so.2"
    (built / "lib" / "jemalloc.so").touch()
    (built / "lib" / "jemalloc.json").write_text('{"version": "5.3.1", "origin": "crate x 1"}')
    assert (jemalloc().library, jemalloc().version, jemalloc().origin) == (built / "lib" / "jemalloc.so", "5.3.1", "crate x 1")
    (built / "lib" / "jemalloc.json").write_text("{")
    assert jemalloc().version == ""


def test_the_newest_of_several_comes_first() -> None:
    assert debian.newest_first(["/llvm-9/clang/9", "/llvm-16/clang/16", "/llvm-15/clang/15"])[0] == "/llvm-16/clang/16"


def test_a_rival_has_its_older_name_as_well(where: Place) -> None:
    assert heap.find("mimalloc", where).name == "mimalloc2"


@pytest.mark.parametrize(("habit", "what"), [("", ""), ("NO_MALLOC", "python3: not served"), ("CRASHES", "python3: crashes: SIGABRT")])
def test_a_trial(habit: str, what: str, compiled: Callable[[str], Path], where: Place) -> None:
    found = attempt(Heap("fake", "peer", library=compiled(habit)), where)
    assert found.startswith(what)
    assert bool(found) == bool(what)


def test_a_hang_is_a_trial_s_result(compiled: Callable[[str], Path], where: Place) -> None:
    assert "hangs" in attempt(Heap("fake", "peer", library=compiled("HANGS")), where, limit=1)


def test_what_trials_found_is_kept_for_that_build(where: Place) -> None:
    notes = Notebook(where)
    one = Heap("own", "peer", library=Path("own.so"), version="1")
    assert notes.of(one) is None
    notes.write(one, "python3: hangs")
    assert notes.of(one) == "python3: hangs"
    assert notes.of(replace(one, version="2")) is None


def test_the_list_names_what_is_missing(laboratory: Laboratory) -> None:
    done = laboratory("peers", "list", "--json")
    entries = {entry["name"]: entry for entry in json.loads(done.stdout)["peers"]}
    assert entries.keys() == {peer.name for peer in PEERS}
    assert entries["snmalloc"]["state"] == "missing"
    assert "./polder peers build snmalloc" in laboratory("peers", "list").stdout


def test_an_unknown_rival_is_wrong_use(laboratory: Laboratory) -> None:
    done = laboratory("peers", "build", "jemaloc")
    assert done.returncode == 2
    assert "there is no peer 'jemaloc'; nearest: jemalloc" in done.stderr
