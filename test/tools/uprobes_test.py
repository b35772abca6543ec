"""Every allocation is seen by a tracer, whatever function it is made by."""

import re

from conftest import ROOT, library, program, run
from page import command
from tracer import counts, perf

GROUP = "probe_libpolder"
LEADS_TO = {"reallocarray": "realloc", "_Znam": "_Znwm", "_ZnamSt11align_val_t": "_ZnwmSt11align_val_t"}  # inlined, or a jump


def symbols():
    """The functions that test/tools/counted.cpp calls, in order."""
    return re.findall(r'^    \{"(\w+)",', (ROOT / "test/tools/counted.cpp").read_text(), re.MULTILINE)


def add():
    return command("perf probe -q -x build/release/lib/libpolder.so")


def probed():
    return [word for before, word in zip(add(), add()[1:], strict=False) if before == "--add"]


def test_every_allocation_is_counted_once(tmp_path):
    def counted(n):
        return command("perf stat -e 'probe_libpolder:*'", CMD=f"{program('counted')} {n}")

    recorded = command("perf record", CMD=f"{program('counted')} 1")
    recorded[recorded.index("-o") + 1] = tmp_path / "data"
    delete = command("perf probe -q --del 'probe_libpolder:*'")
    before = counts(GROUP, perf(GROUP, tmp_path, add(), counted(0), delete))
    after = counts(GROUP, perf(GROUP, tmp_path, add(), counted(25), recorded, delete))
    assert sorted(before) == sorted(after) == sorted(probed())
    more = {name: after[name] - before[name] for name in after}
    called = {name: 25 * (i + 1) for i, name in enumerate(symbols())}
    for name, other in LEADS_TO.items():
        called[other] += called.pop(name)
    assert more == {**dict.fromkeys(probed(), 0), **called}
    assert (tmp_path / "data").stat().st_size > 0


def test_no_function_that_allocates_is_without_a_probe():
    table = {name: address for address, name in re.findall(
        r"^([0-9a-f]+) [TWi] (\S+)$", run("nm", "-D", "--defined-only", library()).stdout, re.MULTILINE)}
    allocates = [name for name in table if re.search(r"alloc(?!ate_at_least|_)|memalign|_Zn[wa]|allocate_at_least|malloc_batch", name)]
    assert len(allocates) > 30
    seen = {table[name] for name in [*probed(), *LEADS_TO]}
    assert len(seen) == len(probed()) + len(LEADS_TO)
    assert [name for name in allocates if table[name] not in seen] == []
