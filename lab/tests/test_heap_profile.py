"""polder profile: what a heap profile says, scaled and with names. A profile of the real library: test/profile."""

from __future__ import annotations

import math
import subprocess
from pathlib import Path

import pytest
from conftest import Laboratory

from polder_lab import heap_profile
from polder_lab.complaint import Complaint
from polder_lab.heap_profile import Frame

MAPS = "5000-6000 r--p 00000000 fe:00 1    /nowhere/program\n6000-8000 r-xp 00001000 fe:00 1    /nowhere/program\n"
TEXT = f"""heap profile: 3: 3000 [5: 5000] @ heap_v2/1000
2: 2000 [4: 4000] @ 0x6101 0x6201
1: 1000 [1: 1000] @ 0x7001 0x6201

MAPPED_LIBRARIES:
{MAPS}"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    written = tmp_path / "app.1.heap"
    written.write_text(TEXT)
    return written


def test_a_sample_stands_for_as_many_as_were_not_drawn() -> None:
    blocks, size = heap_profile.scaled(10, 1000, 100_000)
    assert blocks == pytest.approx(10 / (1 - math.exp(-0.001)))
    assert size == pytest.approx(100 * blocks)
    assert heap_profile.scaled(3, 30_000_000, 1000) == (3, 30_000_000)
    assert heap_profile.scaled(0, 0, 1000) == (0, 0)
    assert heap_profile.scaled(1, 0, 1000)[0] == pytest.approx(1000, rel=0.01)


def test_a_profile_is_read(file: Path) -> None:
    profile = heap_profile.read(file)
    assert profile.mean == 1000
    by = 1 / (1 - math.exp(-1))
    assert profile.stacks[(0x6101, 0x6201)].live_blocks == pytest.approx(2 * by)
    assert profile.stacks[(0x6101, 0x6201)].bytes == pytest.approx(4000 * by)
    assert profile.total().live_bytes == pytest.approx(3000 * by)
    assert [(m.begin, m.end, m.file, m.bias) for m in profile.mappings] == [(0x6000, 0x8000, "/nowhere/program", 0x5000)]


def test_the_same_stack_twice_is_added_up(file: Path) -> None:
    file.write_text(TEXT.replace("0x7001", "0x6101"))
    assert len(heap_profile.read(file).stacks) == 1
    assert heap_profile.read(file).total() == pytest.approx(heap_profile.read(file).stacks[(0x6101, 0x6201)])


@pytest.mark.parametrize(("text", "said"), [
    ("", "is no heap profile"),
    ("heap profile: 1: 2 [3: 4] @ heap_v1/1000\n", "is no heap profile"),
    (TEXT.replace("2: 2000 [4", "2: 2000 (4"), "line 2"),
    (TEXT.replace("2: 2000 [4", f"2: {'9' * 400} [4"), "line 2"),
    (f"heap profile: 1: 2 [3: 4] @ heap_v2/{'9' * 400}\n", "is no heap profile"),
])
def test_what_is_no_profile_is_told(file: Path, text: str, said: str) -> None:
    file.write_text(text)
    with pytest.raises(Complaint, match=said):
        heap_profile.read(file)


@pytest.mark.parametrize(("form", "said", "megabytes"), [
    ("heapprofile", "estimated from free memory beside blocks of theirs", "3.00"),
    ("heap_v2/1", "estimated from one sample for each byte, on average", "3.00"),
    ("heap_v2/1000000", "estimated from one sample for each 1,000,000 bytes, on average", "4.75"),
])
def test_the_form_tells_what_was_estimated(laboratory: Laboratory, file: Path, form: str, said: str, megabytes: str) -> None:
    file.write_text(TEXT.replace("heap_v2/1000", form).replace("000 [", "000000 [").replace("000]", "000000]"))
    done = laboratory("profile", str(file))
    assert done.returncode == 0, done.stderr
    assert said in done.stderr
    assert done.stdout.splitlines()[-1].split()[0] == megabytes


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(Complaint, match="No such file"):
        heap_profile.read(tmp_path / "none.heap")


def test_without_the_program_addresses_are_what_is_known() -> None:
    names = heap_profile.Names(heap_profile.mapped(MAPS.splitlines()))
    names.learn([0x6101, 0x9999])
    assert names.of((0x6101, 0x9999)) == [Frame("program+0x1101", ""), Frame("0x9999", "")]


def test_functions_are_named_through_inlining(tmp_path: Path) -> None:
    """The addresses are those of a program that prints them, of a fixed place and of any."""
    source = tmp_path / "asks.cpp"
    source.write_text("""#include <cstdio>
        __attribute__((noinline)) void* here() { return __builtin_return_address(0); }
        inline __attribute__((always_inline)) void* inner() { return here(); }
        namespace app { template <class T> __attribute__((noinline)) void outer(T) { std::printf("%p\\n", inner()); } }
        int main() {
          app::outer(1);
          std::FILE* maps = std::fopen("/proc/self/maps", "r");
          for (int c; (c = std::fgetc(maps)) != EOF;) std::putchar(c);
        }""")
    for place in ("-pie", "-no-pie"):
        program = tmp_path / f"asks{place}"
        subprocess.run(["c++", "-g", "-O1", "-fPIE", place, "-o", program, source], check=True, timeout=60)
        address, *maps = subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()
        names = heap_profile.Names(heap_profile.mapped(maps))
        names.learn([int(address, 16)])
        assert [frame.function for frame in names.of((int(address, 16),))] == ["inner", "app::outer"]
        assert names.of((int(address, 16),))[1].place.endswith("asks.cpp:4")


@pytest.mark.parametrize(("function", "is_called"), [
    ("main", "main"),
    ("void app::outer<int>(int)", "app::outer"),
    ("std::vector<int, std::allocator<int> >::vector(unsigned long, std::allocator<int> const&)", "std::vector::vector"),
    ("shop::cart::add(item const&) const", "shop::cart::add"),
    ("operator new(unsigned long)", "operator new"),
    ("shop::operator<(item const&, item const&)", "shop::operator<(item const&, item const&)"),
    ("(anonymous namespace)::keep(int)", "keep"),
])
def test_names_are_short(function: str, is_called: str) -> None:
    assert heap_profile.bare(function) == is_called


def test_who_asked_is_not_who_asks_for_others() -> None:
    frames = [Frame("operator new", ""), Frame("std::vector::vector", "a.h:1"), Frame("shop::cart::add", "cart.cpp:7"), Frame("main", "")]
    assert heap_profile.asker(frames).function == "shop::cart::add"
    assert heap_profile.asker(frames[:2]).function == "operator new"
    assert heap_profile.asker([]).function == "?"


def test_the_table_has_a_line_for_each_that_asked(file: Path, laboratory: Laboratory) -> None:
    done = laboratory("profile", str(file))
    assert done.returncode == 0, done.stderr
    assert done.stdout.index("program+0x1101") < done.stdout.index("program+0x2001")
    assert "66.7%" in done.stdout
    assert "1,000 bytes" in done.stderr
    done = laboratory("profile", str(file), "--top", "1", "--stacks", "--by", "allocated")
    assert "program+0x1201" in done.stdout
    assert "program+0x2001" not in done.stdout
    assert "1 more line" in done.stdout
    assert laboratory("profile", "nowhere.heap").returncode == 2
