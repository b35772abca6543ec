"""`./polder test req-N` finds something for each of the numbered requirements."""

import re

from tree import ROOT

NUMBERED = 25


def test_each_requirement_has_tests():
    texts = [file.read_text() for folder in ("test", "cmake") for file in (ROOT / folder).rglob("*")
             if file.name == "CMakeLists.txt" or file.suffix == ".cmake"]
    found = {int(n) for text in texts for held in re.findall(r"\bREQUIREMENTS((?: \d+)+)", text) for n in held.split()}
    found |= {int(n) for text in texts for n in re.findall(r"\breq-(\d+)", text)}
    assert found == set(range(1, NUMBERED + 1))
