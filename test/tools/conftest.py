"""What the tests of tools share: where things were built, and a program run on a heap."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

BUILD = Path(os.environ.get("POLDER_BUILD", Path(__file__).resolve().parents[2] / "build/release"))
ROOT = Path(__file__).resolve().parents[2]


def library(variant=None):
    return BUILD / f"lib/variant/libpolder-{variant}.so" if variant else BUILD / "lib/libpolder.so"


def program(name):
    return BUILD / f"bin/test/tools.{name}"


def run(*command, seconds=120, **environment):
    """Runs it with these variables set, and gives both outputs as text."""
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, errors="replace", timeout=seconds,
                          stdin=subprocess.DEVNULL, check=False, env={**os.environ, **environment})


def run_on(lib, *command, **more):
    """As ./polder run does it."""
    return run(BUILD / "bin/polder-launch", lib, *command, **more)


def need(tool):
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")
