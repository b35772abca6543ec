import pytest

from check_papers import IDS, check
from tree import ROOT

ALL = [f"| {i} | a few words | not built |" for i in IDS]


@pytest.fixture
def tree(tmp_path):
    def make(rows, more="", files=None):
        texts = {"docs/papers.md": "\n".join(rows) + "\n" + more, "src/polder/mem/arena.hpp": "class arena { reserve(); };\n",
                 **(files or {})}
        for name, text in texts.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        return check(tmp_path)[1]

    return make


def test_a_row_for_every_id_passes(tree):
    assert tree(ALL) == []


def test_this_repository_passes():
    assert check(ROOT)[1] == []


def test_a_range_stands_for_its_ids(tree):
    rows = [r for r in ALL if not r.startswith(("| K1 ", "| K2 ", "| K3 "))]
    assert tree([*rows, "| K1–K3 | queues | not built |"]) == []


@pytest.mark.parametrize("gone", ["S35", "M1", "T31", "L19", "K49", "X5"])
def test_a_missing_id_is_said(tree, gone):
    assert tree([r for r in ALL if not r.startswith(f"| {gone} ")]) == [f"docs/papers.md: {gone} has no row"]


def test_an_id_twice_unknown_or_without_a_state(tree):
    assert tree([*ALL, "| S7 | again | built |"]) == ["docs/papers.md: S7 has 2 rows"]
    assert tree([*ALL, "| S56 | no seed | built |"]) == ["docs/papers.md: S56 is not an id of the seeds"]
    assert tree([*ALL[1:], "| S1 | words |  |"]) == ["docs/papers.md: S1 says nothing of its state"]


@pytest.mark.parametrize(("text", "said"), [
    ("see `mem/arena.cpp`", "docs/papers.md: there is no `mem/arena.cpp`"),
    ("see `test/gone/`", "docs/papers.md: there is no `test/gone/`"),
    ("see `mem/arena.hpp` · `arena::release`", "docs/papers.md: there is no arena::release in `mem/arena.hpp`"),
    ("see `mem/arena.hpp` · `reserve`, `serve`", "docs/papers.md: there is no serve in `mem/arena.hpp`"),
    ("[see](tour.md#first)", "docs/papers.md: the link to tour.md leads nowhere"),
])
def test_what_is_not_there_is_said(tree, text, said):
    assert tree(ALL, text) == [said]


@pytest.mark.parametrize("text", [
    "see `mem/arena.hpp` and `src/polder/mem/`", "see `mem/arena.hpp` · `arena::reserve`, `class`", "[see](papers.md#s)",
    "[out](https://example.org/x.md)", "`build/release/lib/libpolder.so`", "```sh\ncat `no/such.sh`\n```",
])
def test_what_is_there_passes(tree, text):
    assert tree(ALL, text) == []


def test_every_document_is_read(tree):
    for name in ("README.md", "docs/how-to/link.md", "src/polder/heap/polder/README.md"):
        assert tree(ALL, files={name: "`no/such.hpp`"})[0] == f"{name}: there is no `no/such.hpp`"
        tree(ALL, files={name: ""})


def test_every_heap_is_in_the_catalogue(tree):
    registry = {"src/polder/heap/all.hpp": "    polder_heap<Host>,  // heap\n    michael_lifo<Host>  // sheet\n"}
    rows = "| heap |\n| --- |\n| `polder` | ours |\n"
    assert tree(ALL, files={**registry, "README.md": rows}) == ["README.md: the catalogue has no row for michael-lifo"]
    assert tree(ALL, files={**registry, "README.md": rows + "| `michael-lifo` | 2004 |\n"}) == []


def test_every_option_is_in_both_tables(tree):
    source = {"src/polder/heap/options_text.cpp": 'keys = {\n    {"thp", "off or on",\n    {"guard_rate", "one block in how many",\n};\n'}
    whole, part = "\n## Options\n| `thp`, `guard_rate` | 0 |\n", "`guard_rate`\n## Options\n| `thp` | `guard_rate` |\n"
    files = {**source, "docs/how-to/diagnose.md": part, "src/polder/heap/polder/README.md": whole}
    assert tree(ALL, files=files) == ["docs/how-to/diagnose.md: the options have no row for guard_rate"]
    assert tree(ALL, files={**files, "docs/how-to/diagnose.md": whole}) == []


def test_no_papers_is_an_error(tmp_path):
    assert check(tmp_path)[1] == ["docs/papers.md is missing"]
