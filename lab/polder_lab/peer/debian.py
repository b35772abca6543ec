"""Rivals as Debian packages them: where their libraries are, which version, how to install them."""

from __future__ import annotations

import glob
import os
import platform
import re
import subprocess
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from polder_lab.peer.described import Peer

DOOR = '. "$root/tools/door/say.sh"; . "$root/tools/door/packages.sh"; need_packages "$@"'


def library_folders() -> list[str]:
    folders = ["/usr/local/lib", *glob.glob("/usr/lib/*-linux-gnu*"), "/usr/lib64", "/usr/lib",
               *newest_first(glob.glob("/usr/lib/llvm-*/lib/clang/*/lib/linux"))]
    return [folder for folder in folders if os.path.isdir(folder)]


def newest_first(paths: Sequence[str]) -> list[str]:
    """llvm-16 before llvm-9."""
    return sorted(paths, key=lambda path: [int(number) for number in re.findall(r"\d+", path)], reverse=True)


def library(peer: Peer, folders: Sequence[str]) -> Path | None:
    candidates = (Path(folder, file.format(machine=platform.machine())) for file in peer.files for folder in folders)
    return next((path for path in candidates if path.exists()), None)


@lru_cache
def owners(libraries: tuple[Path, ...]) -> dict[Path, tuple[str, str]]:
    """Package and upstream version of each library that a package owns."""
    packages = dict(line.rsplit(": ", 1)[::-1] for line in told(["dpkg-query", "-S", *map(str, libraries)]) if ": " in line)
    names = {path: owner.split(":")[0].split(",")[0] for path, owner in packages.items()}
    versions = dict(line.split(" ", 1) for line in told(["dpkg-query", "-W", "-f", "${Package} ${Version}\\n", *set(names.values())])
                    if " " in line) if names else {}
    return {Path(path): (name, upstream(versions.get(name, ""))) for path, name in names.items()}


def told(command: list[str]) -> list[str]:
    """dpkg-query says what it knows even when it does not know all."""
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=60).stdout.splitlines()
    except OSError:
        return []


def upstream(version: str) -> str:
    """1:19.1.7-3~deb12u1 is 19.1.7, 2.0.9+ds-2 is 2.0.9."""
    without_epoch = version.rpartition(":")[2]
    without_revision = without_epoch.rpartition("-")[0] or without_epoch
    return re.sub(r"[+~](ds|dfsg).*", "", without_revision)


def install(root: Path, packages: Sequence[str]) -> str:
    """Why that was not possible; "" when it was. The front door does it, as for everything else."""
    done = subprocess.run(["sh", "-c", DOOR, "sh", *packages], env={**os.environ, "root": str(root)}, capture_output=True,
                          text=True)
    lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    return "" if done.returncode == 0 else (lines[-1].removeprefix("polder: ") if lines else f"exit status {done.returncode}")
