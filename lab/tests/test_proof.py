from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from polder_lab.heap import SYSTEM, Heap
from polder_lab.launch import Launcher
from polder_lab.proof import witness


def objection(launcher: Launcher, heap: Heap, command: list[str]) -> str:
    extra = {"LD_PRELOAD": str(heap.library)} if heap.library else {}
    with witness(launcher.scratch / "witness") as seen:
        run = launcher.run(command, extra={**extra, **seen.extra})
        assert run.trouble == ""
        return seen.objection(heap, run.pid)


def file_heap(library: Path) -> Heap:
    return Heap("fake", "file", library=library)


PYTHON = [str(Path(sys.executable).resolve()), "-S", "-c", "print(1)"]


def test_a_serving_heap(launcher: Launcher, compiled: Callable[[str], Path]) -> None:
    assert objection(launcher, file_heap(compiled("")), PYTHON) == ""


def test_the_system_s_own(launcher: Launcher) -> None:
    assert objection(launcher, SYSTEM, PYTHON) == ""


def test_a_library_that_is_loaded_but_serves_nothing(launcher: Launcher, compiled: Callable[[str], Path]) -> None:
    assert objection(launcher, file_heap(compiled("NO_MALLOC")), PYTHON).startswith("not served: malloc is that of")


def test_a_program_with_a_malloc_of_its_own(launcher: Launcher, compiled: Callable[[str], Path], tmp_path: Path) -> None:
    source, program = tmp_path / "own.c", tmp_path / "own"
    source.write_text("#include <stdlib.h>\n#include <string.h>\nstatic char all[1 << 20]; static size_t used;\n"
                      "void* malloc(size_t n) { void* p = all + used; used += (n + 15) & ~15ul; return p; }\n"
                      "void free(void* p) { (void)p; }\n"
                      "int main(void) { char* p = strdup(\"x\"); return p[0] != 'x'; }\n")
    subprocess.run(["cc", "-rdynamic", "-fno-builtin", "-o", program, source], check=True)
    assert objection(launcher, file_heap(compiled("")), [str(program)]).startswith("not served")
    assert objection(launcher, SYSTEM, [str(program)]).startswith("not the system's malloc")


def test_a_static_program(launcher: Launcher, compiled: Callable[[str], Path], tmp_path: Path) -> None:
    source, program = tmp_path / "static.c", tmp_path / "static"
    source.write_text("#include <stdlib.h>\nint main(void) { free(malloc(10)); return 0; }\n")
    if subprocess.run(["cc", "-static", "-fno-builtin", "-o", program, source], capture_output=True).returncode != 0:
        pytest.skip("no static C library here")
    assert "binds no malloc" in objection(launcher, file_heap(compiled("")), [str(program)])


def test_a_child_that_escapes(launcher: Launcher, compiled: Callable[[str], Path]) -> None:
    escape = [*PYTHON[:-1], "import os, subprocess, sys; env = dict(os.environ); env.pop('LD_PRELOAD'); "
              "subprocess.run([sys.executable, '-S', '-c', ''], env=env)"]
    assert objection(launcher, file_heap(compiled("")), escape) == "not served in 1 of the child processes"


def test_a_child_that_says_nothing(launcher: Launcher, compiled: Callable[[str], Path]) -> None:
    """The limit that README.md and docs/how-to/measure.md tell: without any environment the child's linker is not asked."""
    cleared = [*PYTHON[:-1], "import subprocess, sys; subprocess.run([sys.executable, '-S', '-c', ''], env={})"]
    assert objection(launcher, file_heap(compiled("")), cleared) == ""


def test_a_child_of_the_base_with_another_heap(launcher: Launcher, compiled: Callable[[str], Path]) -> None:
    child = [*PYTHON[:-1], "import os, subprocess, sys; "
             f"subprocess.run([sys.executable, '-S', '-c', ''], env={{**os.environ, 'LD_PRELOAD': '{compiled('')}'}})"]
    assert objection(launcher, SYSTEM, child).startswith("not the system's malloc: served by")


def test_an_entry_lent_by_a_fixed_program_is_followed(launcher: Launcher, compiled: Callable[[str], Path], tmp_path: Path) -> None:
    # The program takes malloc's address in code that is not relocated, so everybody's pointer to malloc is its own entry.
    shared, source, program = tmp_path / "libpointer.so", tmp_path / "fixed.c", tmp_path / "fixed"
    (tmp_path / "pointer.c").write_text("#include <stdlib.h>\nvoid* (*pointer)(size_t) = malloc;\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-fno-builtin", "-o", shared, tmp_path / "pointer.c"], check=True)
    source.write_text("#include <stdlib.h>\nextern void* (*pointer)(size_t);\n"
                      "int main(void) { void* (*volatile own)(size_t) = malloc; free(malloc(5)); return own != pointer; }\n")
    subprocess.run(["cc", "-no-pie", "-fno-pic", "-fno-builtin", "-o", program, source, shared, f"-Wl,-rpath,{tmp_path}"], check=True)
    assert objection(launcher, file_heap(compiled("")), [str(program)]) == ""
    assert objection(launcher, SYSTEM, [str(program)]) == ""
