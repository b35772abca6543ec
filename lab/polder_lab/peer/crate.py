"""Rivals out of crates: cargo compiles the sources in them, and what comes out is linked into one shared library.

The crates make archives for Rust programs. Whole archives go into the library here, so every call goes straight into the
allocator's own code: a library written in Rust around them would cost a jump a call, and could not export C symbols.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from polder_lab.peer.described import Crate, Peer

OLDEST_CARGO = (1, 87)  # for the edition in which libtcmalloc-sys is written
WHERE_TO_FIND = "cargo-web|cargo-1.91|cargo-1.89|cargo", "rustc-web|rustc-1.91|rustc-1.89|rustc"


class CannotBuild(Exception):
    """Why one rival is not there: the others go on."""


@dataclass(frozen=True)
class Made:
    """NAME.json beside NAME.so."""

    name: str
    title: str
    version: str
    year: str
    summary: str
    library: str
    origin: str
    built_with: str
    built: str


def cargo_version(program: str) -> tuple[int, ...]:
    try:
        said = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=60).stdout
    except (OSError, subprocess.SubprocessError):
        return ()
    found = re.search(r"(\d+)\.(\d+)", said)
    return (int(found[1]), int(found[2])) if found else ()


def cargo() -> str | None:
    """The first that is new enough: on the path, rustup's, one with its version in the name."""
    numbered = sorted((str(p) for p in Path("/usr/bin").glob("cargo-1.*")), reverse=True)
    candidates = [shutil.which("cargo"), str(Path.home() / ".cargo" / "bin" / "cargo"), *numbered]
    return next((c for c in candidates if c and cargo_version(c) >= OLDEST_CARGO), None)


def build(peer: Peer, crate: Crate, program: str, sources: Path, into: Path) -> Made:
    """sources is lab/peers, into is build/peers."""
    (into / "lib").mkdir(parents=True, exist_ok=True)
    log = into / "lib" / f"{peer.name}.log"
    log.write_text("")
    archives, version, crate_sources = compiled(peer, crate, program, sources, into / "cargo", log)
    library = into / "lib" / f"{peer.name}.so"
    linked(archives, crate, library, log)
    compiler = subprocess.run([compiler_name(), "--version"], capture_output=True, text=True).stdout.splitlines()[0]
    made = Made(peer.name, peer.title, crate.allocator_version(version, crate_sources), peer.year, peer.summary, str(library),
                f"crate {crate.name} {version.partition('-')[0]}", compiler, datetime.now(UTC).isoformat(timespec="seconds"))
    library.with_suffix(".json").write_text(json.dumps(asdict(made), indent=1) + "\n")
    return made


def compiled(peer: Peer, crate: Crate, program: str, sources: Path, target: Path, log: Path) -> tuple[list[Path], str, Path]:
    """The archives that the crate's build script made, the crate's version, its folder."""
    flags = {name: crate.flags for name in ("CFLAGS", "CXXFLAGS")} if crate.flags else {}
    environment = {k: v for k, v in os.environ.items() if k not in ("CFLAGS", "CXXFLAGS")}
    # The compiler of the same folder, whatever the path has.
    environment["PATH"] = f"{Path(program).parent}:{environment.get('PATH', '')}"
    numbered = Path(program).with_name(Path(program).name.replace("cargo", "rustc"))
    if numbered.name != "rustc" and numbered.exists():
        environment["RUSTC"] = str(numbered)
    command = [program, "build", "--release", "--locked", "--features", peer.name, "--target-dir", str(target), "--message-format", "json"]
    if jobs := os.environ.get("POLDER_JOBS"):
        command += ["--jobs", jobs]
    with log.open("a") as errors:
        done = subprocess.run(command, cwd=sources, env={**environment, **flags}, stdout=subprocess.PIPE, stderr=errors, text=True)
    if done.returncode != 0:
        raise CannotBuild(f"crate {crate.name} does not build: {trouble(log)} (log: {log})")
    scripts = [message for line in done.stdout.splitlines() if line.startswith("{")
               and (message := json.loads(line))["reason"] == "build-script-executed" and crate.name in package(message["package_id"])]
    if not scripts:
        raise CannotBuild(f"crate {crate.name} compiled nothing")
    script = scripts[0]
    names = [lib.removeprefix("static=") for lib in script["linked_libs"] if lib.startswith("static=")]
    folders = [Path(path.split("=", 1)[-1]) for path in script["linked_paths"]]
    archives = [next((f / f"lib{name}.a" for f in folders if (f / f"lib{name}.a").exists()), None) for name in dict.fromkeys(names)]
    found = [archive for archive in archives if archive]
    if not found:
        raise CannotBuild(f"crate {crate.name} made no archive")
    return found, package(script["package_id"])[crate.name], folder_of(crate.name, program, sources, environment)


def package(identity: str) -> dict[str, str]:
    """Name and version out of cargo's two ways to write a package's identity: SOURCE#name@1.0 and name 1.0 (SOURCE)."""
    tail = identity.rpartition("#")[2] if "#" in identity and "@" in identity else ""
    name, version = tail.split("@", 1) if tail else (identity.split(" ")[:2] if " " in identity else (identity, ""))
    return {name: version}


def folder_of(name: str, program: str, sources: Path, environment: dict[str, str]) -> Path:
    told = subprocess.run([program, "metadata", "--locked", "--offline", "--all-features", "--format-version", "1"], cwd=sources,
                          env=environment, capture_output=True, text=True)
    entries = json.loads(told.stdout)["packages"] if told.returncode == 0 else []
    return next((Path(entry["manifest_path"]).parent for entry in entries if entry["name"] == name), Path("/nonexistent"))


def linked(archives: list[Path], crate: Crate, library: Path, log: Path) -> None:
    """One shared library that needs libc alone: the C++ library comes in with it, and is not shown outside."""
    with tempfile.TemporaryDirectory(dir=library.parent) as scratch:
        made = Path(scratch, library.name)
        command = [compiler_name(), "-shared", "-o", str(made), f"-Wl,-soname,{library.name}", "-Wl,-Bsymbolic-functions", "-Wl,-z,now",
                   "-Wl,--whole-archive", *map(str, archives), "-Wl,--no-whole-archive",
                   *(f"-Wl,--defsym={ours}={its}" for its, ours in crate.names.items()),
                   "-static-libstdc++", "-static-libgcc", "-Wl,--exclude-libs,libstdc++.a:libgcc.a:libgcc_eh.a:libatomic.a",
                   "-Wl,--as-needed", "-l:libatomic.a", "-lpthread", "-ldl"]
        done = subprocess.run(command, capture_output=True, text=True)
        with log.open("a") as file:
            file.write(" ".join(command) + "\n" + done.stderr)
        if done.returncode != 0:
            raise CannotBuild(f"{crate.name} does not link: {trouble(log)} (log: {log})")
        made.rename(library)


def compiler_name() -> str:
    return os.environ.get("CXX") or "c++"


def trouble(log: Path) -> str:
    """The first line that names an error, or the last one at all."""
    lines = [line.strip().removeprefix("cargo:warning=") for line in log.read_text(errors="replace").splitlines() if line.strip()]
    errors = [line for line in lines if re.search(r"\berror\b.*:", line) and "custom build command" not in line]
    return (errors or lines or ["no message"])[0 if errors else -1][:200]
