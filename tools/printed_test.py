"""What a program found and cannot write is not lost in silence: one line, and exit status 2."""

import os
import subprocess
from pathlib import Path

import pytest

from tree import ROOT

PROGRAMS = Path(os.environ.get("POLDER_LAUNCH", ROOT / "build/release/bin/polder-launch")).parent


@pytest.mark.parametrize("words", [
    ["polder-bench", "list"], ["polder-bench", "list", "--json"], ["polder-bench", "help"],
    ["polder-bench", "run", "larson", "--preset", "smoke"],
    ["polder-doctor"], ["polder-registry"], ["polder-structures"],
    ["polder-probe", "list"], ["polder-probe", "list", "--json"], ["polder-mistakes", "list"],
    ["polder-trace", "describe", ROOT / "traces/jq.trace"], ["polder-trace", "replay", ROOT / "traces/jq.trace"], ["polder-trace", "help"],
], ids=lambda words: " ".join(map(str, words[:2])))
def test_a_full_disk_is_told(words):
    program = PROGRAMS / words[0]
    if not program.exists():
        pytest.skip(f"{words[0]} is not built")
    with open("/dev/full", "w") as full:
        run = subprocess.run([program, *words[1:]], stdout=full, stderr=subprocess.PIPE, text=True, timeout=100)
    assert run.returncode == 2
    assert run.stderr.endswith(": what was found cannot be written: No space left on device\n")
    assert run.stderr.count("\n") == 1
