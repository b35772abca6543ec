import pytest

from check_layers import check

LAYERS = "base:\nsync: base\nos: sync base\nheap: os sync base\nmalloc: heap os sync base\nprotocol: base sync\n"


@pytest.fixture
def tree(tmp_path):
    def make(files, layers=LAYERS):
        base = tmp_path / "src" / "polder"
        for name, text in {"LAYERS": layers, "base/bits.hpp": "#pragma once\n", **files}.items():
            (base / name).parent.mkdir(parents=True, exist_ok=True)
            (base / name).write_text(text)
        return check(tmp_path)[1]

    return make


def test_a_lawful_tree_passes(tree):
    assert tree({"sync/inbox.hpp": "#include <polder/base/bits.hpp>\n",
                 "sync/inbox_model.cpp": "#include <polder/sync/inbox.hpp>\n",
                 "malloc/face.cpp": "#include <polder/heap/h.hpp>\n#include <polder.h>\n",
                 "heap/h.hpp": "#include <polder/os/pages.hpp>\n#include <sys/mman.h>\n", "os/pages.hpp": ""}) == []


@pytest.mark.parametrize(("file", "text", "said"), [
    ("base/bad.hpp", "#include <polder/sync/inbox.hpp>", "base may not include <polder/sync/inbox.hpp>"),
    ("sync/bad.hpp", "  # include <polder/os/pages.hpp>", "sync may not include <polder/os/pages.hpp>"),
    ("heap/bad.hpp", "#include <polder/malloc/face.hpp>", "heap may not include"),
    ("heap/bad.hpp", "#include <polder.h>", "only malloc/ knows the public header"),
    ("heap/bad.hpp", '#include "bad_too.hpp"', "is written as <polder/…>"),
    ("smr/epoch.hpp", "", "the folder 'smr' is not in LAYERS"),
    ("loose.hpp", "", "is not in LAYERS"),
])
def test_what_is_not_allowed_is_said(tree, file, text, said):
    found = tree({file: text + "\n", "heap/bad_too.hpp": ""})
    assert len(found) == 1
    assert said in found[0]


def test_a_file_with_a_model_stays_within_base_and_sync(tree):
    found = tree({"heap/life.hpp": "#include <polder/os/pages.hpp>\n#include <sys/mman.h>\n", "heap/life_model.cpp": "", "os/pages.hpp": ""})
    assert ["a protocol file may not include" in line for line in found] == [True, True]


def test_files_that_include_each_other(tree):
    found = tree({"sync/a.hpp": "#include <polder/sync/b.hpp>\n", "sync/b.hpp": "#include <polder/sync/a.hpp>\n"})
    assert found == ["files include each other: sync/a.hpp -> sync/b.hpp -> sync/a.hpp"]


def test_what_a_protocol_file_includes_of_its_own_folder_is_one_too(tree):
    files = {"heap/h/life.hpp": "#include <polder/heap/h/span.hpp>\n", "heap/h/life_model.cpp": "",
             "heap/h/span.hpp": "#include <polder/sync/inbox.hpp>\n", "sync/inbox.hpp": "",
             "heap/h/free.hpp": "#include <polder/os/pages.hpp>\n", "os/pages.hpp": ""}
    assert tree(files) == []
    files["heap/h/span.hpp"] += "#include <polder/heap/h/free.hpp>\n"
    assert any("a protocol file may not include <polder/os/pages.hpp>" in said for said in tree(files))
    assert tree(files | {"heap/h/free_model.hpp": ""}) == []  # which is another there


def test_layers_that_allow_a_cycle(tree):
    assert tree({}, "base: sync\nsync: base\n") == ["LAYERS allows a cycle: base -> sync -> base"]


def test_an_empty_tree_is_an_error(tmp_path):
    (tmp_path / "src" / "polder").mkdir(parents=True)
    (tmp_path / "src" / "polder" / "LAYERS").write_text(LAYERS)
    with pytest.raises(SystemExit):
        check(tmp_path)
