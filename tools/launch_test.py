"""What `./polder run` refuses, and what it becomes."""

import os
import subprocess
from pathlib import Path

import pytest

from tree import ROOT

LAUNCH = os.environ.get("POLDER_LAUNCH", str(ROOT / "build/release/bin/polder-launch"))
SH = "/bin/sh"


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("library")
    (folder / "x.c").write_text("int nothing_of_note;\n")
    subprocess.run(["cc", "-shared", "-o", folder / "x.so", folder / "x.c"], check=True)
    return folder / "x.so"


@pytest.fixture
def script(tmp_path):
    def write(text):
        path = tmp_path / "script"
        path.write_text(text)
        path.chmod(0o755)
        return path

    return write


def launch(library, *words, **environment):
    options = ["--no-children"] if words[0] == "--no-children" else []
    command = [LAUNCH, *options, str(library), *map(str, words[len(options):])]
    return subprocess.run(command, capture_output=True, text=True, timeout=30, stdin=subprocess.DEVNULL,
                          env={**os.environ, **environment})


def refused(run, status, words):
    assert run.returncode == status
    assert run.stdout == ""
    assert run.stderr.startswith("polder: ")
    assert words in run.stderr
    assert run.stderr.count("\n") == 1


def test_the_library_comes_before_what_was_preloaded(library):
    run = launch(library, SH, "-c", 'echo "$LD_PRELOAD" "$POLDER_NO_CHILDREN" "$@"', "sh", "a b", LD_PRELOAD="libm.so.6", POLDER_NO_CHILDREN="1")
    assert run.stdout == f"{library}:libm.so.6  a b\n"


def test_exit_status_is_the_program_s(library):
    assert launch(library, SH, "-c", "exit 7").returncode == 7


def test_not_found(library, script):
    refused(launch(library, "no-such-program-at-all"), 127, "command not found")
    refused(launch(library, script("#!/usr/bin/env no-such-program\n")), 127, "asks for no-such-program")
    refused(launch(library, script("#!/no/such/interpreter\n")), 127, "/no/such/interpreter")


def test_not_a_program(library, tmp_path):
    refused(launch(library, tmp_path), 126, "not an executable file")
    (tmp_path / "text").write_text("hello")
    refused(launch(library, tmp_path / "text"), 126, "not an executable file")


@pytest.fixture
def static_program(tmp_path):
    (tmp_path / "s.c").write_text("int main(void) { return 0; }\n")
    subprocess.run(["cc", "-static", "-o", tmp_path / "static", tmp_path / "s.c"], check=True)
    return tmp_path / "static"


def test_a_static_program_and_a_script_for_one(library, static_program, script):
    refused(launch(library, static_program), 2, "statically linked")
    refused(launch(library, script(f"#! {static_program} -x\n")), 2, "statically linked")


def test_another_machine(library, tmp_path):
    program = bytearray(Path(SH).resolve().read_bytes())
    program[18] ^= 0xFF  # e_machine
    (tmp_path / "foreign").write_bytes(program)
    (tmp_path / "foreign").chmod(0o755)
    refused(launch(library, tmp_path / "foreign"), 2, "another machine")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
@pytest.mark.parametrize(("mode", "word"), [(0o4755, "setuid"), (0o2755, "setgid")])
def test_a_privileged_program(library, tmp_path, mode, word):
    program = tmp_path / "privileged"
    program.write_bytes(Path("/bin/true").read_bytes())
    os.chown(program, 65534, 65534)
    program.chmod(mode)
    refused(launch(library, program), 2, f"is {word}")


def test_a_path_that_the_variable_cannot_carry(library, tmp_path):
    spaced = tmp_path / "a b.so"
    spaced.write_bytes(library.read_bytes())
    refused(launch(spaced, SH, "-c", "true"), 2, "space or a colon")


def test_a_file_without_a_format_goes_to_the_shell(library, script):
    assert launch(library, script("echo $0 $LD_PRELOAD\n")).stdout.split()[1] == str(library)


def test_no_children_goes_around_env(library, script):
    text = 'echo "$POLDER_NO_CHILDREN $1"\n'
    for first in ("#!/usr/bin/env sh\n", "#!/usr/bin/env -S sh -e\n", "#!/bin/sh\n"):
        path = script(first + text + "tr '\\0' ' ' < /proc/$$/cmdline\n")
        run = launch(library, "--no-children", path, "word")
        assert run.stdout.splitlines()[0] == "1 word"
        assert "env" not in run.stdout.splitlines()[1].split()[0]
