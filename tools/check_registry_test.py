import json

import pytest

from check_registry import check

GOOD = {"name": "one", "title": "One", "paper": "p", "year": 2026, "summary": "s", "progress": "lock-free", "library": "lib/libpolder-one.so"}


@pytest.fixture
def told(tmp_path):
    folder = tmp_path / "src" / "polder" / "heap" / "one"
    folder.mkdir(parents=True)
    (folder.parent / "all.hpp").write_text("#include <polder/heap/one/one.hpp>\n")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libpolder-one.so").touch()

    def tell(*heaps, names=("one",), sheets=()):
        return check(json.dumps({"heaps": heaps}), list(names), list(sheets), tmp_path, tmp_path)[1]

    tell.root = tmp_path
    return tell


def test_a_good_entry_passes(told):
    assert told(GOOD) == []


@pytest.mark.parametrize(("change", "said"), [
    ({"summary": ""}, "no summary"),
    ({"progress": "quick"}, "progress begins with"),
    ({"year": 26}, "the year is 26"),
    ({"library": "lib/libpolder-other.so"}, "is not built"),
])
def test_a_flaw_is_said(told, change, said):
    found = told({**GOOD, **change})
    assert len(found) == 1
    assert said in found[0]


def test_a_name_that_the_build_did_not_read(told):
    assert "the build read" in told(GOOD, names=["one", "two"])[0]


def test_a_sheet_names_its_heap(told):
    sheet = {**GOOD, "name": "one-less"}
    assert told(GOOD, {**sheet, "sheet_of": "one"}, sheets=["one-less"]) == []
    assert "one-less: a sheet of 'two'" in told(GOOD, {**sheet, "sheet_of": "two"}, sheets=["one-less"])[0]
    assert "one-less: a sheet of ''" in told(GOOD, sheet, sheets=["one-less"])[0]
    assert "lists it as a heap" in told({**GOOD, "sheet_of": "one"})[0]


def test_twice(told):
    assert "'one' is registered twice" in told(GOOD, GOOD, names=["one", "one"])


def test_nothing(told):
    assert told(names=[]) == ["the registry is empty"]


def test_a_folder_without_an_entry(told):
    (told.root / "src" / "polder" / "heap" / "orphan").mkdir()
    assert told(GOOD) == ["src/polder/heap/orphan/ is in no registry"]


def test_a_bad_name(told):
    assert any("not a name in" in line for line in told({**GOOD, "name": "One-Two"}, names=["One-Two"]))
