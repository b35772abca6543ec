"""What a page lists is what the code has."""

import re

from tree import ROOT


def test_the_calls_a_sandbox_has_to_allow_are_all_named():
    allowed = (ROOT / "test/faults/documented_calls.hpp").read_text().split("tolerated_calls")[0]
    calls = set(re.findall(r"\bSYS_(\w+)", allowed))
    page = (ROOT / "docs/how-to/lifecycle.md").read_text()
    told = page.split("\n## Sandboxes\n")[1].split("\n## ")[0]
    assert len(calls) > 15
    assert calls <= set(re.findall(r"\w+", told)), "calls that lifecycle.md does not name"
