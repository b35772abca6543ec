"""valgrind's memcheck and the variant that tells it of blocks: it finds what it should, and nothing else."""

import re

import pytest

from conftest import library, need, program, run, run_on
from page import command

# rol of rdi by 3, 13, 61, 51: how a program speaks to valgrind on x86-64.
REQUEST = bytes.fromhex("48c1c703 48c1c70d 48c1c73d 48c1c733")


def memcheck(*words):
    need("valgrind")
    return run(*command("./polder run --variant valgrind", CMD=" ".join(map(str, words))))


@pytest.mark.parametrize(("mistake", "said", "by"), [
    ("leak", r"123 bytes in 1 blocks are definitely lost", ["malloc", "leak"]),
    ("read_after_free", r"Invalid read of size 1\n(.*\n)*?.* 7 bytes inside a block of size 40 free'd", ["read_after_free", "free_it"]),
    ("write_after_free", r"Invalid write of size 1\n(.*\n)*?.* 0 bytes inside a block of size 40 free'd", ["write_after_free", "free_it"]),
    ("large_after_free", r"Invalid read of size 1\n(.*\n)*?.* 100,000 bytes inside a block of size 200,000 free'd", ["free_it"]),
    ("after_realloc", r"Invalid read of size 1\n(.*\n)*?.* 7 bytes inside a block of size 40 free'd", ["realloc", "after_realloc"]),
    ("overrun", r"Invalid write of size 1\n(.*\n)*?.* 0 bytes after a block of size 10 alloc'd", ["malloc", "overrun"]),
    ("overrun_of_new", r"Invalid read of size 1\n(.*\n)*?.* 0 bytes after a block of size 48 alloc'd", ["new_missed", "overrun_of_new"]),
    ("underrun", r"Invalid read of size 1\n(.*\n)*?.* block of size 48 alloc'd", ["underrun"]),
    ("uninitialised", r"Conditional jump or move depends on uninitialised value", ["uninitialised"]),
    ("double_free", r"Invalid free\(\)(.*\n)*?.* 0 bytes inside a block of size 40 free'd", ["double_free", "free_it"]),
])
def test_a_mistake_is_found(mistake, said, by):
    told = memcheck(program("mistakes"), mistake)
    text = re.sub(r"(?m)^==\d+== ?", "", told.stderr)
    assert re.search(said, text), told.stderr
    for function in by:
        assert re.search(rf"0x[0-9A-F]+: .*\b{function}\b", text), told.stderr
    assert "tracked.hpp" in text or mistake == "uninitialised", told.stderr  # it is Polder that told


def test_no_mistake_is_made_up():
    told = memcheck(program("well_behaved"), 60)
    assert told.returncode == 0, told.stderr
    assert "ERROR SUMMARY: 0 errors" in told.stderr
    assert "All heap blocks were freed -- no leaks are possible" in told.stderr
    count = re.search(r"total heap usage: ([\d,]+) allocs, ([\d,]+) frees", told.stderr)
    assert count, told.stderr
    assert int(count[1].replace(",", "")) > 3 * 60 * 10
    assert count[1] == count[2]


def test_the_usual_library_tells_nothing():
    need("valgrind")
    words = command("./polder run --variant valgrind", CMD=f"{program('mistakes')} leak")
    told = run(*(library() if word == str(library("valgrind")) else word for word in words))
    assert told.returncode == 0, told.stderr
    assert "total heap usage: 0 allocs" in told.stderr


# Its guards are pages that the kernel denies and valgrind knows nothing of.
def test_the_hardened_heap_runs_beside_it():
    need("valgrind")
    words = ["valgrind", "--tool=none", "-q", program("well_behaved"), "5"]
    told = run(*words, LD_PRELOAD=str(library()), POLDER_OPTIONS="hardened=1,guard_rate=10")
    assert told.returncode == 0, told.stderr


def test_without_valgrind_the_variant_is_a_heap_as_ever():
    assert run_on(library("valgrind"), program("well_behaved")).returncode == 0
    told = run_on(library("valgrind"), program("mistakes"), "double_free")
    assert told.returncode == -6
    assert told.stderr.startswith("polder: double free of 0x")


def test_requests_are_in_the_variant_alone():
    if run("uname", "-m").stdout.strip() != "x86_64":
        pytest.skip("x86-64's instructions are looked for")
    assert library("valgrind").read_bytes().count(REQUEST) > 3
    assert library().read_bytes().count(REQUEST) == 0
