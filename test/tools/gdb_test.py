"""tools/gdb/polder.py on a program that lives, and on its core."""

import os
import re
import subprocess

import pytest

from conftest import ROOT, library, need, program, run
from page import command


@pytest.fixture(scope="module", params=[None, "hardened"], ids=["plain", "hardened"])
def inspected(request, tmp_path_factory):
    """The program, what it said of itself, and its core: on the library as it is, or hardened, and then no block lies between guard pages."""
    need("gdb")
    child = subprocess.Popen([program("inspected")], stdout=subprocess.PIPE, text=True,
                             env={**os.environ, "LD_PRELOAD": str(library(request.param)), "POLDER_OPTIONS": "guard_rate=0"})
    told = {}
    while "end" not in told:
        line = child.stdout.readline()
        assert line, "the program ended"
        what, value = line.split()
        told[what] = value
    core = tmp_path_factory.mktemp("core") / "core"
    dumped = run("gdb", "-batch", "-nx", "-p", str(child.pid), "-ex", f"generate-core-file {core}")
    if not core.exists():
        child.kill()
        pytest.skip(f"gdb may not attach here: {dumped.stderr.strip().splitlines()[-1:]}")
    yield {"gdb -p PID": {"PID": child.pid}, "gdb PROGRAM CORE": {"PROGRAM": program("inspected"), "CORE": core}}, told
    child.kill()
    child.wait()


def gdb(inspected, way, address, *more):
    """What the page's command says of the program or of its core, and then these."""
    words = command(way, ADDRESS=address, **inspected[way])
    words += [word for command in more for word in ("-ex", command)]
    said = run(words[0], "-batch", "-nx", *words[1:])
    assert not re.search("Python Exception|Error", said.stderr), said.stderr
    return said.stdout


@pytest.mark.parametrize("way", ["gdb -p PID", "gdb PROGRAM CORE"])
def test_a_block(inspected, way):
    where, told = inspected
    asked = ["live", "freed", "another", "crowded", "passed", "large", "huge", "none"]
    said = gdb(where, way, told["live"], *(f"polder block {told[what]}" for what in asked[1:]), f"polder block {told['live']}+100",
               f"polder block {told['large']}+100000")
    lines = [line for line in said.splitlines() if re.match(r"0x[0-9a-f]+: ", line)]
    said = dict(zip([*asked, "inside", "inside_large"], lines, strict=True))
    for what in asked:
        assert said[what].startswith(f"{int(told[what], 16):#x}: "), said
    small = re.compile(r": block (0x[0-9a-f]+) of 112 bytes(, byte 100 of it)?, (\w+), in span 0x[0-9a-f]+ "
                       r"\(class \d+, owner LAB (\d+), (\d+) of \d+ blocks used(, hot)?\)$")
    found = {what: small.search(said[what]) for what in ("live", "freed", "another", "crowded", "inside")}
    assert all(found.values()), said
    assert [found[what][3] for what in found] == ["live", "free", "live", "live", "live"]
    assert found["inside"][1] == told["live"]
    assert found["inside"][2]
    assert found["live"][4] == found["freed"][4] != found["another"][4]
    assert found["another"][5] == found["crowded"][5] == "1"
    assert re.search(r": free memory of the heap$|, free, in span ", said["passed"]), said
    assert re.search(r": large block 0x[0-9a-f]+ of 262144 bytes, live$", said["large"])
    assert said["inside_large"].endswith(f": large block {told['large']} of 262144 bytes, byte 100000 of it, live")
    assert re.search(r": huge block 0x[0-9a-f]+ of 500\d+ bytes, live$", said["huge"])
    assert said["none"].endswith(": not memory of this heap")


@pytest.mark.parametrize("way", ["gdb -p PID", "gdb PROGRAM CORE"])
def test_statistics(inspected, way):
    where, told = inspected
    said = dict(line.split() for line in gdb(where, way, told["live"]).splitlines()
                if re.fullmatch(r"[a-z_]+ +\d+", line))
    told = {what: told["large_bytes" if what == "large" else what] for what in said}
    assert said == told
    assert len(said) == 9


def test_a_program_without_polder():
    need("gdb")
    said = run("gdb", "-batch", "-nx", "/bin/true", "-x", ROOT / "tools/gdb/polder.py", "-ex", "polder statistics")
    assert "polder: no Polder in this program" in said.stderr
