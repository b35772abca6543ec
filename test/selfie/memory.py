"""memory — the allocators and the collector, by the maps that they draw."""

import re
from xml.etree import ElementTree

from harness import ROOT, run, say, scratch, write


def heap_run(allocator, *rest, status=0, text=None):
    """What steps.c prints over an allocator, and the rectangles of its picture: (x, width, colour) by row."""
    file = ROOT / "memory" / f"{allocator}.c"
    if text is not None:
        file = write(f"broken_{allocator}.c", text)
    drawing = scratch / f"{allocator}.svg"
    said = run("-c", "library/print.c", "memory/map.c", file, *rest, "-m", 1, drawing, status=status).decode()
    rows = {}
    if text is None:
        for rect in ElementTree.parse(drawing).getroot().iter("{http://www.w3.org/2000/svg}rect"):
            if "x" in rect.attrib:
                rows.setdefault(int(rect.get("y")), []).append((int(rect.get("x")), int(rect.get("width")), rect.get("fill")))
    return said, [rows[y] for y in sorted(rows)]


def maps(said):
    """The maps that were printed, each as one string of 256 characters."""
    return ["".join(m.split()) for m in re.findall(r"(?:^  [.+#o]{64}\n){4}", said, re.MULTILINE)]


LETTERS = {"#7a8794": "+", "#e08a3c": "#", "#bcd9b0": "o", "#eeeeee": "."}


def test_memory():
    """Each allocator serves the same steps; its maps say what was in use, and text and picture say the same."""
    def used(drawn):
        return drawn.count("#")

    for allocator in ("bump", "free_list", "lab", "anchor"):
        said, rows = heap_run(allocator, "memory/steps.c", status=1 if allocator == "bump" else 0)
        drawn = maps(said)
        assert len(drawn) == 14 and all(len(m) == 256 for m in drawn), said
        assert ["".join(LETTERS[c] * (w // 3) for _, w, c in row) for row in rows] == drawn
        in_use = [used(m) for m in drawn]
        if allocator == "bump":
            assert drawn[4] == "#" * 49 + "." * 207 and "out of memory after 19 times" in said
        else:
            assert in_use[0] == 0 and in_use[12] == 0 and in_use[13] == 0, in_use
            assert in_use[4] >= 49 and in_use[5] < in_use[4]
        if allocator == "free_list":
            assert drawn[0] == drawn[12] == drawn[13] == "+" + "o" * 255  # all neighbours joined
        if allocator == "lab":
            assert drawn[1].startswith("++++#########ooooooooo")  # a span of class 9
            picture = ROOT.parent / "docs/pictures/selfie-lab.svg"
            assert picture.read_text() == (scratch / "lab.svg").read_text(), "the course's picture is another one"
        if allocator == "anchor":
            assert drawn[1].startswith("+#######+ooooooo+ooooooo+ooooooo....")
        say(f"{allocator}: words in use {in_use}")
    said, rows = heap_run("collector")
    assert re.findall(r"kept \d+, freed \d+", said) == ["kept 9, freed 6", "kept 7, freed 2", "kept 4, freed 3"], said
    assert len(rows) == len(maps(said)) == 7
    # A block handed out twice, a list that is not mended, a root that is forgotten: each is noticed.
    mistakes = [("free_list", "        *block = words;\n",
                 "        *block = words;\n        rest = block + words - 3;\n        *rest = 200;\n        *(rest + 1) = 0;\n"),
                ("lab", "  *(span + SPAN_FREE) = *block;\n", ""),
                ("anchor", "make_anchor(state, tag_of(old) + 1, count_of(old) - 1, next)",
                 "make_anchor(state, tag_of(old) + 1, count_of(old) - 1, first_of(old))"),
                ("collector", "  mark_range(globals(), globals_end());\n", ""),
                ("collector", "  if (*(block + 1) == MARKED) return;\n", "")]
    for allocator, right, wrong in mistakes:
        text = (ROOT / "memory" / f"{allocator}.c").read_text()
        assert right in text, (allocator, right)
        heap_run(allocator, *([] if allocator == "collector" else ["memory/steps.c"]), status=3, text=text.replace(right, wrong))
    say(f"{len(mistakes)} mistakes found")
