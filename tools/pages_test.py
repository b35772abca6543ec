"""What a page lists is what the code has."""

import json
import re
from math import prod

from tree import ROOT

SANDBOXES = (ROOT / "docs/how-to/lifecycle.md").read_text().split("\n## Sandboxes\n")[1].split("\n## ")[0]
CALLS = (ROOT / "test/faults/documented_calls.hpp").read_text().split("tolerated_calls")[0]


def calls_in(text):
    return set(re.findall(r"\bSYS_(\w+)", text))


def test_the_calls_a_sandbox_has_to_allow_are_all_named():
    calls = calls_in(CALLS)
    assert len(calls) > 15
    assert calls <= set(re.findall(r"\w+", SANDBOXES)), "calls that lifecycle.md does not name"


def test_the_calls_of_an_option_are_named_with_it():
    for option in ("profile", "timeline"):
        calls = calls_in(re.search(rf"{option}_calls\[\] = {{(.*?)}};", CALLS, re.DOTALL)[1])
        told = [point for point in SANDBOXES.split("\n* ") if f"`{option}=`" in point]
        assert len(told) == 1
        assert calls <= set(re.findall(r"\w+", told[0])), option


def test_the_glossary_knows_how_many_size_classes_there_are():
    header = (ROOT / "src/polder/mem/size_class/stepped.hpp").read_text()
    terms = re.search(r"constexpr unsigned count = ([\d+* ]+);", header)[1].split("+")
    count = sum(prod(int(factor) for factor in term.split("*")) for term in terms)
    assert f"| **size class** | index of a block size, 1 to {count}." in (ROOT / "docs/glossary.md").read_text()


def test_every_preset_is_named():
    presets = json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]
    told = re.search(r"^The presets are .*?\n\n", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE | re.DOTALL)[0]
    assert set(re.findall(r"`([^`]+)`", told)) == {preset["name"] for preset in presets if not preset.get("hidden")}


def test_how_to_reclaim_writes_each_setting_of_a_drain_and_a_bound():
    page = (ROOT / "docs/how-to/reclaim.md").read_text()
    for header, struct in (("drain", "drain_policy"), ("limbo_domain", "bound_policy")):
        text = (ROOT / f"src/polder/smr/{header}.hpp").read_text()
        body = re.search(rf"^struct {struct} {{\n(.*?)^}};", text, re.MULTILINE | re.DOTALL)[1]
        settings = re.findall(r"^  (?!static)[\w:]+\*? (?:\(\*)?(\w+)\b.* = .*;", body, re.MULTILINE)
        assert len(settings) == 4
        assert [s for s in settings if f".{s} = " not in page] == []
