"""Programs with AddressSanitizer on the variant that tells it of Polder's blocks."""

import pytest

from conftest import ROOT, library, program, run, run_on
from page import command


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """Runs a program that was built as the page says, with a mistake of its own."""
    made = tmp_path_factory.mktemp("asan") / "mistakes"
    for first in ("cmake --preset release &&", "c++ "):
        words = command(first, PROGRAM=made) if first == "c++ " else command(first)
        words = words[words.index("&&") + 1:] if "&&" in words else words  # it is configured
        words = [ROOT / "test/tools/mistakes_asan.cpp" if word == f"{made}.cpp" else word for word in words]
        built = run(*words, seconds=250)
        assert built.returncode == 0, built.stdout + built.stderr
    return lambda mistake: run(made, mistake, ASAN_OPTIONS="detect_leaks=1:exitcode=9")


@pytest.mark.parametrize(("mistake", "what"), [
    ("read_after_free", "READ of size 1"),
    ("write_after_free", "WRITE of size 1"),
    ("overrun", "WRITE of size 1"),
    ("overrun_of_an_allocator", "READ of size 4"),
])
def test_a_mistake_is_found(checked, mistake, what):
    told = checked(mistake)
    assert told.returncode == 9, told.stderr
    assert "ERROR: AddressSanitizer: use-after-poison" in told.stderr
    assert what in told.stderr
    assert f"in {mistake}" in told.stderr or f"::{mistake}" in told.stderr, told.stderr


def test_a_double_free_ends_in_a_line(checked):
    told = checked("double_free")
    assert told.returncode != 0
    assert "polder: double free of 0x" in told.stderr


def leaks_are_looked_for(checked):
    told = checked("leak_of_mallocs")
    if "LeakSanitizer has encountered a fatal error" in told.stderr:
        return False  # it may not trace here
    assert "byte(s) leaked in " in told.stderr, told.stderr
    return True


def test_no_mistake_is_made_up(checked):
    told = checked("none")
    if not leaks_are_looked_for(checked):
        pytest.skip("LeakSanitizer does not run here")
    assert told.returncode == 0, told.stderr
    assert told.stderr == ""


def test_without_the_sanitizer_the_variant_is_a_heap_as_ever():
    assert run_on(library("asan"), program("well_behaved")).returncode == 0
