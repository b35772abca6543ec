"""harness — what the parts of check.py share: selfie is run, what it prints is looked at, nothing is left behind."""

import atexit
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2] / "selfie"
CONCURRENT = ROOT / "concurrent"

selfie = str(Path(sys.argv[2]).resolve()) if len(sys.argv) > 2 else ""
compiler = sys.argv[3] if len(sys.argv) > 3 else "cc"
scratch = Path(tempfile.mkdtemp())
atexit.register(shutil.rmtree, scratch, ignore_errors=True)


def run(*arguments, status=0, cwd=None, machine=(), environment=None):
    """What a run of selfie prints, as bytes; its status must be this one, or one of these. `machine`: what selfie is to run on."""
    command = [selfie, *map(str, machine), *map(str, arguments)]
    done = subprocess.run(command, cwd=cwd or ROOT, env={**os.environ, **(environment or {})}, capture_output=True, timeout=110, check=False)
    said = done.stdout + done.stderr
    statuses = status if isinstance(status, tuple) else (status,)
    assert done.returncode in statuses, f"{shlex.join(command)}\nstatus {done.returncode}, wanted {status}\n{said.decode(errors='replace')}"
    return said


def say(text):
    print(text, flush=True)


def binary():
    """selfie compiled by itself."""
    made = scratch / "selfie.m"
    if not made.exists():
        run("-c", "selfie.c", "-o", made)
    return made


def write(name, text):
    path = scratch / name
    path.write_text(text)
    return path
