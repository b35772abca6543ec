"""levels — the compiler compiles itself, machines run themselves, and on every level the same is printed."""

import os
import re
import shutil
import subprocess

from harness import ROOT, binary, compiler, run, say, scratch, write


def test_fixpoint():
    """The compiler compiled by itself compiles itself to the same binary, and that one does again."""
    first = binary()
    second, third = scratch / "second.m", scratch / "third.m"
    run("-l", first, "-m", 16, "-c", "selfie.c", "-o", second)
    run("-l", second, "-m", 16, "-c", "selfie.c", "-o", third)
    assert first.read_bytes() == second.read_bytes() == third.read_bytes()
    say(f"selfie.c: three binaries of {first.stat().st_size} bytes are the same")


def test_compilers():
    """Every C compiler that is there makes a selfie that makes the same binary."""
    wanted = binary().read_bytes()
    seen = [os.path.realpath(shutil.which(compiler) or compiler)]  # has made the selfie that made this
    for name in ("gcc", "clang", "clang-16"):
        path = shutil.which(name)
        if not path or os.path.realpath(path) in seen:
            continue
        seen.append(os.path.realpath(path))
        other = scratch / "other"
        subprocess.run([ROOT / "compile", path, other, "-O1"], check=True, timeout=110)
        made = scratch / "other.m"
        subprocess.run([other, "-c", "selfie.c", "-o", made], cwd=ROOT, check=True, timeout=60)
        assert made.read_bytes() == wanted, f"{path} makes another selfie"
        say(f"{path}: the same binary")
    assert seen


LEVELS = {
    "on the processor": [],
    "emulated": ["-m", 64],
    "emulated by an emulated emulator": ["-m", 64, "-l", "SELFIE", "-m", 24],
    "hosted": ["-m", 64, "-l", "SELFIE", "-y", 40],
    "hosted by a hosted hypervisor": ["-m", 64, "-l", "SELFIE", "-y", 40, "-l", "SELFIE", "-y", 24],
    "three hypervisors": ["-m", 128, "-l", "SELFIE", "-y", 80, "-l", "SELFIE", "-y", 48, "-l", "SELFIE", "-y", 24],
    "hosted without a machine below": ["-y", 64],
}


def on_level(level):
    """The words that come before selfie's own arguments, so that it runs there."""
    words = [binary() if word == "SELFIE" else word for word in LEVELS[level]]
    return ["-l", binary(), *words] if words else []


def test_levels__same():
    """A program's output and status are the same on every level, and so is what selfie says of a wrong one."""
    program = write("levels.c", '''
int* text;
int fibonacci(int n) {
  if (n < 2) return n;
  return fibonacci(n - 1) + fibonacci(n - 2);
}
int main(int argc, int* argv) {
  int i;
  text = malloc(4096);
  i = 0;
  while (i < argc) {
    write(1, (int*)*(argv + i), 4);
    write(1, "\\n", 1);
    i = i + 1;
  }
  return fibonacci(11);
}
''')
    wrong = write("wrong.c", "int main() { return * 3; }\n")
    bad = write("bad.c", "int main() { return *((int*)17); }\n")
    outputs = {}
    for level in LEVELS:
        machine = on_level(level)
        outputs[level] = (run("-c", program, "-m", 1, "abc", "defg", machine=machine, status=89),
                          run("-c", wrong, machine=machine, status=1),
                          run("-c", bad, "-m", 1, machine=machine, status=3))
        assert outputs[level] == outputs["on the processor"], f"{level}: {outputs[level]}"
    assert b"abc\0\ndefg\n" in outputs["emulated"][0]
    say(f"{len(LEVELS)} levels: " + ", ".join(LEVELS))


def test_levels__hosted():
    """A hosted program is run by the machine below, not interpreted by the hypervisor: the instructions tell."""
    program = write("count.c", "int main() { int i; i = 0; while (i < 100000) i = i + 1; return 0; }\n")
    said = {}
    for how in ("-m", "-y"):
        out = run("-v", "-l", binary(), "-m", 64, "-c", program, how, 1)
        said[how] = int(re.search(rb"(\d+) million instructions", out).group(1))
    say(f"a loop of a million instructions: {said['-m']} million emulated twice, {said['-y']} million hosted")
    assert said["-y"] < 10 < said["-m"], said
