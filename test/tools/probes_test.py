"""The USDT probes: those the page tells of, with as many arguments, and they fire."""

import re

from conftest import program, run
from page import command, probes
from tracer import counts, perf

GROUP = "sdt_polder"


def test_the_library_has_the_probes_of_the_page():
    said = run(*command("readelf -n")).stdout
    found = {}
    for provider, name, arguments in re.findall(r"Provider: (\S+)\s+Name: (\S+)\s+Location: .*\s+Arguments: (.*)", said):
        assert provider == "polder"
        found.setdefault(name, set()).add(len(arguments.split()))
    assert {name: {count} for name, count in probes().items()} == found


def test_they_fire_as_often_as_the_heap_says(tmp_path):
    said = perf(GROUP, tmp_path, command("perf buildid-cache --add"), command("perf probe -q --add 'sdt_polder:*'"),
                ["env", "POLDER_OPTIONS=stats=1", *command("perf stat -e 'sdt_polder:*'", CMD=program("well_behaved"))],
                command("perf probe -q --del 'sdt_polder:*'"))
    fired = counts(GROUP, said)
    assert set(fired) >= set(probes())
    refills = re.search(r"^polder: refills (\d+) ", said, re.MULTILINE)
    posts = re.search(r"^polder: posts (\d+) ", said, re.MULTILINE)
    assert fired["refill"] == int(refills[1]) > 0
    assert fired["post"] == int(posts[1]) > 0
    assert 0 <= fired["large_alloc"] - fired["large_free"] <= 1  # the C++ library keeps one for exceptions
    assert fired["large_free"] > 0
    assert fired["span_open"] > 0
    assert fired["trim"] > 0
    assert fired["oom"] == 0

