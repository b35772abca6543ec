#!/usr/bin/env python3
"""check PART SELFIE [COMPILER] — one part of Selfie's tests: each function test_PART below.

A part of a test, test_NAME__PART, is named NAME@PART. SELFIE is selfie.c as COMPILER has made it. Nothing here looks at a clock; `measure` is no test and prints figures.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2] / "selfie"

selfie = ""
compiler = "cc"
scratch = Path()


def run(*arguments, status=0, cwd=None, machine=()):
    """What a run of selfie prints, as bytes; its status must be this one. `machine`: what selfie is to run on."""
    command = [selfie, *map(str, machine), *map(str, arguments)]
    done = subprocess.run(command, cwd=cwd or ROOT, capture_output=True, timeout=110)
    said = done.stdout + done.stderr
    assert done.returncode == status, f"{shlex.join(command)}\nstatus {done.returncode}, wanted {status}\n{said.decode(errors='replace')}"
    return said


def say(text):
    print(text, flush=True)


def binary():
    """selfie compiled by itself."""
    made = scratch / "selfie.m"
    if not made.exists():
        run("-c", "selfie.c", "-o", made)
    return made


def write(name, text):
    path = scratch / name
    path.write_text(text)
    return path


# ---- self-reference


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


def test_atoi__listing():
    """atoi.c of the talk compiles to the instructions that the talk prints, and to their addresses."""
    printed = '''atoi.c: $pc=0x000001CC: lw $t0,-4($fp)
atoi.c: $pc=0x000001D0: addiu $t1,$zero,1
atoi.c: $pc=0x000001D4: addu $t0,$t0,$t1
atoi.c: $pc=0x000001D8: sw $t0,-4($fp)
atoi.c: $pc=0x000001DC: lw $t0,8($fp)
atoi.c: $pc=0x000001E0: lw $t1,-4($fp)
atoi.c: $pc=0x000001E4: addiu $t2,$zero,4
atoi.c: $pc=0x000001E8: multu $t1,$t2
atoi.c: $pc=0x000001EC: mflo $t1
atoi.c: $pc=0x000001F0: nop
atoi.c: $pc=0x000001F4: nop
atoi.c: $pc=0x000001F8: addu $t0,$t0,$t1
atoi.c: $pc=0x000001FC: lw $t0,0($t0)
atoi.c: $pc=0x00000200: sw $t0,-12($fp)
'''.splitlines()
    lines = run("-c", "atoi.c", "-S", "-", cwd=ROOT / "examples").decode().splitlines()
    code = [line for line in lines if not line.startswith("//")]
    begin = code.index(printed[0])
    assert code[begin:begin + len(printed)] == printed
    assert any(line.startswith("// atoi.c:15: i = i + 1;") for line in lines), "the source's lines are there"


REGISTERS = "zero at v0 v1 a0 a1 a2 a3 t0 t1 t2 t3 t4 t5 t6 t7 s0 s1 s2 s3 s4 s5 s6 s7 t8 t9 k0 k1 gp sp fp ra".split()
FUNCTIONS = {"addu": 0x21, "subu": 0x23, "slt": 0x2A, "multu": 0x19, "divu": 0x1B, "mfhi": 0x10, "mflo": 0x12, "jr": 0x08}
OPCODES = {"j": 2, "jal": 3, "beq": 4, "bne": 5, "addiu": 9, "lw": 0x23, "sw": 0x2B}


def mips32(text, pc):
    """The word of an instruction, as the manual of MIPS32 says."""
    name, _, rest = text.partition(" ")
    words = [w for w in re.split(r"[,()]", rest) if w]
    numbers = [REGISTERS.index(w[1:]) if w[0] == "$" else int(w, 0) for w in words]
    if name == "nop":
        return 0
    if name == "syscall":
        return 0x0C
    if name in ("addu", "subu", "slt"):
        rd, rs, rt = numbers
    elif name in ("multu", "divu"):
        rs, rt, rd = *numbers, 0
    elif name in ("mfhi", "mflo"):
        rd, rs, rt = numbers[0], 0, 0
    elif name == "jr":
        rs, rt, rd = numbers[0], 0, 0
    elif name in ("j", "jal"):
        return OPCODES[name] << 26 | numbers[0] >> 2
    else:
        if name == "addiu":
            rt, rs, immediate = numbers
        elif name in ("lw", "sw"):
            rt, immediate, rs = numbers
        else:
            rs, rt, immediate = numbers[0], numbers[1], (numbers[2] - pc - 4) // 4
        return OPCODES[name] << 26 | rs << 21 | rt << 16 | immediate & 0xFFFF
    return rs << 21 | rt << 16 | rd << 11 | FUNCTIONS[name]


def test_atoi__instructions():
    """selfie.c compiles to the 17 instructions of the talk and no other; each is encoded as MIPS32 says."""
    wanted = set("j jal beq bne addiu lw sw nop jr syscall mfhi mflo multu divu addu subu slt".split())
    lines = re.findall(r"\$pc=0x([0-9A-F]{8}): (.*)", run("-l", binary(), "-S", "-").decode())
    assert {text.split(" ")[0] for _, text in lines} == wanted
    words = memoryview(binary().read_bytes()).cast("I")[8:]
    for i, (pc, text) in enumerate(lines):
        assert int(pc, 16) == 4 * i and words[i] == mips32(text, 4 * i), f"{pc}: {text}: {words[i]:08X}"
    say(f"{len(lines)} instructions")


def run_binary(source):
    made = scratch / "tiny.m"
    run("-c", source, "-o", made)
    return made.read_bytes()


# ---- the language


def test_corpus__accept():
    """Each program of the corpus ends with the status that its first line says."""
    programs = sorted((ROOT / "corpus/accept").glob("*.c"))
    assert len(programs) >= 12
    for program in programs:
        status = int(program.read_text().split("\n")[0].split()[-1])
        run("-c", program, "-m", 2, "ab", "1", status=status, cwd=scratch)
        run("-l", binary(), "-m", 32, "-c", program, "-m", 2, "ab", "1", status=status, cwd=scratch)
    say(f"{len(programs)} programs, each by selfie and by selfie on mipster")


def test_corpus__reject():
    """Each program of the corpus is refused in the words that stand beside it: file, line, what was expected."""
    programs = sorted((ROOT / "corpus/reject").glob("*.c"))
    assert len(programs) >= 20
    messages = 0
    for program in programs:
        said = run("-c", program.name, status=1, cwd=program.parent).decode()
        wanted = program.with_suffix(".expected").read_text()
        assert said == wanted, f"{program.name}:\n{said}\nwanted\n{wanted}"
        messages += said.count("\n") - 1
    assert run("-l", binary(), "-m", 32, "-c", "types.c", status=1, cwd=ROOT / "corpus/reject").decode() == \
        (ROOT / "corpus/reject/types.expected").read_text()
    say(f"{len(programs)} programs, {messages} messages")


# ---- what machines refuse


def test_faults__machine():
    """Out of memory, bad accesses, unknown calls, division by zero: a precise message and status 3."""
    def fault(text, wanted, status=3, megabytes=1):
        said = run("-c", write("fault.c", text), "-m", megabytes, status=status, cwd=scratch).decode()
        assert re.fullmatch(wanted, said.strip()), f"{text}\nsaid   {said}\nwanted {wanted}"

    at = r" at \$pc=0x[0-9A-F]{8}"
    where = rf"selfie: {re.escape(str(scratch))}/fault\.c:1: "
    fault("int main() { return *((int*)1234567 + 0); }", where + r"unaligned access: 0x0012D687 is no multiple of 4 by lw \$t0,0\(\$t0\)" + at)
    fault("int main() { int* p; p = 0; return *p; }", where + r"access through a null pointer: 0x00000000 by lw \$t0,0\(\$t0\)" + at)
    fault("int main() { *((int*)400) = 1; return 0; }", where + r"access to code as if it were data: 0x00000190 by sw \$t1,0\(\$t0\)" + at)
    fault("int main() { return *((int*)-8); }", where + r"access to a negative address: 0xFFFFFFF8 by lw .*" + at)
    fault("int main() { return *((int*)4194304); }", where + r"access beyond the end of memory: 0x00400000 by lw .*" + at)
    fault("int main() { return *((int*)500000); }", where + r"access to neither data, heap nor stack: 0x0007A120 by lw .*" + at)
    fault("int main() { int a; a = 0; return 7 / a; }", where + r"division by zero by divu \$t0,\$t1" + at)
    fault("int f(int n) { return f(n + 1); } int main() { return f(0); }", where + r"out of memory: the stack has grown into the heap by .*" + at)
    said = run("-l", binary(), "-m", 2, "-c", "selfie.c", status=3).decode()
    assert re.fullmatch(r"selfie: out of memory: no room for \d+ bytes more\n", said), said
    said = run("-l", binary(), "-m", 1, "-c", "selfie.c", status=3).decode()
    assert said.startswith("selfie: out of memory"), said
    fault("int main() { assert(1 == 2); return 0; }", where + r"this assertion does not hold by jal .*" + at)
    fault("int main() { return write(1, (int*)9, 4); }", r"selfie: libcstar:0: unaligned access: 0x00000009 is no multiple of 4 by syscall" + at)
    fault("int main() { return hypster_run((int*)2); }", r"selfie: libcstar:0: hypster_run with an unaligned state block.*" + at)
    fault("int main() { int* p; while (1) { p = malloc(4096); if (p == 0) exit(9); *p = 1; } }", "", status=9)
    run("-c", write("argv.c", "int main(int argc, int* argv) { return argc; }"), "-m", 1, *["x" * 50] * 9, status=10)


def patched(at, word):
    """selfie's own binary of a small program with another word in its code, and with the sum that belongs to it."""
    words = list(memoryview(run_binary(write("tiny.c", "int main() { int i; i = 1; return i; }\n"))).cast("i"))
    words[8 + at] = word - (1 << 32) if word >= 1 << 31 else word
    total = 0
    for value in words[8:]:
        total = (total * 31 + value) & 0xFFFFFFFF
    words[7] = total - (1 << 32) if total >= 1 << 31 else total
    made = scratch / "patched.m"
    made.write_bytes(memoryview(__import__("array").array("i", words)).tobytes())
    return made


def test_faults__binary():
    """What is no binary, or a damaged one, is refused; so are words that are no instructions, and unknown calls."""
    good = run_binary(write("tiny.c", "int main() { return 42; }\n"))
    run("-l", scratch / "tiny.m", "-m", 1, status=42)

    def bad(data, wanted):
        made = scratch / "bad.m"
        made.write_bytes(data)
        said = run("-l", made, "-m", 1, status=3).decode()
        assert said == f"selfie: {made}: bad binary: {wanted}\n", said

    bad(b"", "it is shorter than a header")
    bad(good[:20], "it is shorter than a header")
    bad(b"ELF!" + good[4:], "it does not begin as binaries do")
    bad(good[:4] + b"\x07" + good[5:], "it is of another version")
    bad(good[:8] + b"\xff\xff\xff\x7f" + good[12:], "its header gives impossible lengths")
    bad(good[:-400], "it is shorter than its header says")
    bad(good + b"more", "it is longer than its header says")
    middle = len(good) // 2
    bad(good[:middle] + bytes([good[middle] ^ 1]) + good[middle + 1:], "its sum is wrong")
    missing = run("-l", scratch / "none.m", "-m", 1, status=3).decode()
    assert missing == f"selfie: {scratch}/none.m: this file cannot be read\n", missing
    said = run("-l", patched(0, 0x3C08FFFF), "-m", 1, status=3).decode()  # lui is MIPS32, but not MIPSter
    assert "no instruction: 0x3C08FFFF" in said, said
    said = run("-l", patched(12, 0x24020FA7), "-m", 1, status=3).decode()  # addiu $v0,$zero,4007
    assert "unknown system call 4007 by syscall" in said, said


def test_faults__command_line():
    """A wrong command line is told what was expected, with status 2."""
    for words, wanted in ((["-x"], "before this"), (["-c"], "expected files after -c"), (["-k"], "expected an option, found -k"),
                          (["-c", "corpus/accept/void.c", "-m"], "expected megabytes"),
                          (["-c", "corpus/accept/void.c", "-m", "x"], "expected megabytes of memory from 1 to 1024, found x"),
                          (["-c", "concurrent/token.c", "-x", "1", "many"], "expected a bound on switches, or all, found many")):
        done = subprocess.run([selfie, *words], cwd=ROOT, capture_output=True, timeout=20, text=True)
        assert done.returncode == 2, (words, done)
        assert re.search(wanted, done.stderr), (words, done.stderr)
    assert run("-c", "examples/atoi.c", "-m", 1, status=1) == b"selfie: expected a procedure 'main' to run, found none\n"
    assert run("-c", "nowhere.c", status=1) == b"selfie: nowhere.c: this file cannot be read\n"


def test_trace():
    """-d shows every instruction and what it did; -p counts calls, loops, loads and stores."""
    program = write("trace.c", '''int twice(int n) { return n + n; }
int main() {
  int i;
  int n;
  i = 0;
  n = 0;
  while (i < 5) {
    n = n + twice(i);
    i = i + 1;
  }
  return n;
}
''')
    out = run("-c", program, "-d", "-m", 1, status=20).decode()
    assert re.search(r"trace\.c: \$pc=0x[0-9A-F]{8}: addiu \$t0,\$zero,0 \| \$t0=0\n", out)
    assert re.search(r"sw \$t0,-8\(\$fp\) \| memory\[0x[0-9A-F]{8}\]=20\n", out)
    assert out.rstrip().endswith("syscall | call 4001")
    out = run("-c", program, "-p", "-m", 1, status=20).decode()
    assert re.search(r"calls: 6\n +5 +83 %  twice\(\)\n +1 +16 %  main\(\)\n", out), out
    assert re.search(r"loops: 5\n +5 +100 %  \S+trace\.c:7: while \(i < 5\) \{\n", out), out
    assert re.search(r"loads: \d+\n", out) and re.search(r"stores: \d+\n", out)
    total = int(re.search(r"instructions: (\d+)", out).group(1))
    assert total == run("-c", program, "-d", "-m", 1, status=20).count(b"\n")


# ---- memory


def heap_run(allocator, *rest, status=0, text=None):
    """What steps.c prints over an allocator, and the rectangles of its picture: (x, width, colour) by row."""
    import xml.etree.ElementTree as tree
    file = ROOT / "memory" / f"{allocator}.c"
    if text is not None:
        file = write(f"broken_{allocator}.c", text)
    drawing = scratch / f"{allocator}.svg"
    said = run("-c", "library/print.c", "memory/map.c", file, *rest, "-m", 1, drawing, status=status).decode()
    rows = {}
    if text is None:
        for rect in tree.parse(drawing).getroot().iter("{http://www.w3.org/2000/svg}rect"):
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
        if allocator == "anchor":
            assert drawn[1].startswith("+#######+ooooooo+ooooooo+ooooooo....")
        say(f"{allocator}: words in use {in_use}")
    said, rows = heap_run("collector")
    assert ["kept 9, freed 6", "kept 7, freed 2", "kept 4, freed 3"] == re.findall(r"kept \d+, freed \d+", said), said
    assert len(rows) == len(maps(said)) == 7
    # A block handed out twice, a list that is not mended, a root that is forgotten: each is noticed.
    mistakes = [("free_list", "        *block = words;\n", "        *block = words;\n        rest = block + words - 3;\n        *rest = 200;\n        *(rest + 1) = 0;\n"),
                ("lab", "  *(span + SPAN_FREE) = *block;\n", ""),
                ("anchor", "make_anchor(state, tag_of(old) + 1, count_of(old) - 1, next)", "make_anchor(state, tag_of(old) + 1, count_of(old) - 1, first_of(old))"),
                ("collector", "  mark_range(globals(), globals_end());\n", ""),
                ("collector", "  if (*(block + 1) == MARKED) return;\n", "")]
    for allocator, right, wrong in mistakes:
        text = (ROOT / "memory" / f"{allocator}.c").read_text()
        assert right in text, (allocator, right)
        heap_run(allocator, *([] if allocator == "collector" else ["memory/steps.c"]), status=3, text=text.replace(right, wrong))
    say(f"{len(mistakes)} mistakes found")


# ---- concurrency


CONCURRENT = ROOT / "concurrent"

# What is explored: files, bound, and whether a failure must be found.
PROTOCOLS = {
    "treiber, untagged": (["treiber.c", "stack_clients.c"], 2, "the history is not linearizable"),
    "treiber, tagged": (["treiber_tagged.c", "stack_clients.c"], 3, None),
    "michael-scott queue": (["ms_queue.c", "queue_clients.c"], 2, None),
    "anchor": (["anchor.c"], "all", None),
    "remote free list": (["remote_free.c"], "all", None),
    "debra": (["debra.c"], "all", None),
    "token": (["token.c"], "all", None),
    "listing 3 as printed": (["span.c", "listing3.c"], 2, r"assert\(\*in_set \+ \*in_pool <= 1\)"),
    "listing 3, ours": (["span.c", "listing3_locked.c"], "all", None),
}


def explore(files, bound, wanted, flags=()):
    said = run("-c", *files, *flags, "-x", 1, bound, status=1 if wanted else 0, cwd=CONCURRENT).decode()
    if wanted:
        assert re.search(wanted, said), said
        assert "replayed: the same failure after the same steps" in said, said
    else:
        assert said.endswith("no failure\n"), said
    return said


def test_protocols__explored():
    """Each protocol keeps what it promises in all schedules up to its bound; the broken ones are found out."""
    for name, (files, bound, wanted) in PROTOCOLS.items():
        said = explore(files, bound, wanted)
        say(f"{name}: " + next(line for line in reversed(said.splitlines()) if "switches" in line or "FAILED" in line))


# One line of a protocol replaced by a mistake: the explorer must notice each.
MUTANTS = [
    ("treiber_tagged.c", "(old / 8 + 1) * 8", "old / 8 * 8", ["stack_clients.c"]),
    ("ms_queue.c", "done = compare_and_swap(next + last, 0, node);", "{\n      *(next + last) = node;\n      done = 1;\n    }", ["queue_clients.c"]),
    ("ms_queue.c", "if (compare_and_swap(head, first, after)) return result;", "if (1) {\n          *head = after;\n          return result;\n        }", ["queue_clients.c"]),
    ("anchor.c", "    old = *anchor;\n    *(next + block) = old % 8;", "    if (done == 0) old = *anchor;\n    if (*(next + block) == 0) *(next + block) = old % 8;", []),
    ("anchor.c", "if (compare_and_swap(anchor, old, FULL * 64)) return old % 8;", "*anchor = FULL * 64;\n    return old % 8;", []),
    ("remote_free.c", "while (compare_and_swap(remote, old, 0) == 0) old = *remote;", "*remote = 0;", []),
    ("remote_free.c", "    done = compare_and_swap(remote, old, block);", "    *remote = block;\n    done = 1;", []),
    ("debra.c", "if (seen != 2 * e + 1) return;", "if (seen == 1) return;", []),
    ("debra.c", "node = *(bag + e % 3);", "node = *(bag + (e + 2) % 3);", []),
    ("token.c", "    pass_token(0);\n    wait_for_token(0);  // …is safe when it has come again\n", "", []),
    ("token.c", "    wait_for_token(self);\n    pass_token(self);", "    pass_token(self);", []),
    ("listing3_locked.c", "  acquire();\n", "", ["span.c"]),
]


def test_protocols__mistakes():
    """A mistake in any of the protocols is found."""
    for file, right, wrong, others in MUTANTS:
        text = (CONCURRENT / file).read_text()
        assert right in text, f"{file}: no such line: {right}"
        broken = write("broken_" + file, text.replace(right, wrong))
        first = others if file == "listing3_locked.c" else []
        said = run("-c", *first, broken, *(o for o in others if o not in first), "-x", 1, 3, status=1, cwd=CONCURRENT).decode()
        assert "FAILED" in said and "replayed: the same failure" in said, said
    say(f"{len(MUTANTS)} mistakes found")


def test_explorer__counted():
    """The explorer against what can be counted by hand: schedules of steps that all conflict."""
    def program(threads, steps):
        body = "*cell = self; " * steps
        return write("count.c", f'''int threads = {threads};
int* cell;
void before() {{ cell = malloc(4); }}
void thread(int self) {{ {body} }}
''')
    from math import factorial
    for threads, steps in ((2, 1), (2, 4), (3, 2), (3, 3), (2, 7)):
        said = run("-c", program(threads, steps), "-f", "-x", 1, "all").decode()
        wanted = factorial(threads * steps) // factorial(steps) ** threads
        assert f"any number of switches: {wanted} schedules; at most {threads * steps} steps" in said, said
        say(f"{threads} contexts of {steps} steps: {wanted} schedules")
    # With k switches from a context that could go on, two contexts of n steps: sum over how the runs can be cut.
    said = run("-c", program(2, 4), "-f", "-x", 1, 1).decode()
    assert "at most 0 switches: 2 schedules" in said and "at most 1 switches: 8 schedules" in said, said
    # Which outcomes there are: additions of two steps may be lost, but not all of them.
    for threads, times, outcomes in ((3, 1, {1, 2, 3}), (2, 2, {2, 3, 4})):
        for value in range(threads * times + 2):
            racing = write("racing.c", f"int threads = {threads}; int* n; void before() {{ n = malloc(4); }} "
                           f"void thread(int self) {{ {'*n = *n + 1; ' * times} }} void after() {{ assert(*n != {value}); }}")
            for flags in ([], ["-f"]):
                run("-c", racing, *flags, "-x", 1, "all", status=1 if value in outcomes else 0)
    # States known again change how much is run, never what is found.
    for files, bound, wanted in ((["treiber.c", "stack_clients.c"], 1, "not linearizable"), (["anchor.c"], 2, None),
                                 (["span.c", "listing3_locked.c"], 3, None), (["token.c"], 2, None)):
        explore(files, bound, wanted, ["-f"])


def test_explorer__failures():
    """Each way to fail is named: assertion, access, waiting, endless loop, history, bad call."""
    def fails(text, wanted, arguments=("-x", 1, 2)):
        said = run("-c", write("fails.c", text), *arguments, status=1).decode()
        assert re.search(wanted, said), said
        assert "replayed: the same failure after the same steps" in said, said

    cell = "int* cell; void before() { cell = malloc(8); } "
    fails(cell + "void thread(int self) { *cell = self; assert(*cell == self); }", r"FAILED in schedule \d+: an assertion does not hold, in thread 0")
    fails(cell + "void thread(int self) { *cell = 1; *(cell + 5) = 1; }", "access to neither data, heap nor stack")
    fails(cell + "void thread(int self) { while (*cell == 0) yield(); }", "everyone waits for another's write")
    fails(cell + "void thread(int self) { while (1) *cell = self; }", "no end: too many steps")
    fails("void thread(int self) { while (1) self = self + 1; }", "out of fuel")
    fails(cell + "void thread(int self) { write(1, cell, 4); }", "a call that has no place")
    fails(cell + "void thread(int self) { *cell = *cell + 1; } void after() { assert(*cell == 2); }", r"in after\(\)")
    fails(cell + "int f(int n) { return f(n + 1) + 1; } void thread(int self) { f(0); }", "access to neither")
    queue = "void thread(int self) { invoke(3, self + 1); *cell = self; respond(0); invoke(4, 0); respond(7); }"
    fails(cell + queue, "the history is not linearizable")
    order = "void thread(int self) { if (self == 0) { invoke(3, 1); *cell = 1; respond(0); invoke(3, 2); *cell = 2; respond(0); " \
            "invoke(4, 0); *cell = 3; respond(2); } }"  # a queue gives 1 before 2: the first enqueue ended before the second began
    fails(cell + order, "the history is not linearizable")
    fails(cell + "void thread(int self) { *cell = self; assert(*cell == self); }", "an assertion does not hold", ("-r", 1, 1000, 7))
    said = run("-c", write("random.c", cell + "void thread(int self) { *cell = self; }"), "-r", 1, 100, 7).decode()
    assert said.startswith("seed 7\n") and "100 schedules at random" in said, said


def test_explorer__replay():
    """A printed schedule can be followed again, on its own, and on every level; its picture is drawn."""
    files = ["-c", "treiber.c", "stack_clients.c"]
    said = run(*files, "-g", scratch / "aba.svg", "-x", 1, 2, status=1, cwd=CONCURRENT).decode()
    schedule = re.search(r"schedule: (.*)", said).group(1)
    again = run(*files, "-R", 1, schedule, status=1, cwd=CONCURRENT).decode()
    steps = [line for line in said.splitlines() if re.match(r" +\d+  thread", line)]
    assert len(steps) > 10
    assert "FAILED: the history is not linearizable" in again, again
    assert steps == [line for line in again.splitlines() if re.match(r" +\d+  thread", line)]
    picture = (scratch / "aba.svg").read_text()
    import xml.etree.ElementTree as tree
    rows = tree.fromstring(picture).findall("{http://www.w3.org/2000/svg}rect")
    assert len(rows) == len(steps) + 1, (len(rows), len(steps))
    assert picture == (ROOT.parent / "docs/pictures/selfie-aba.svg").read_text(), "the README's picture is another one"
    emulated = run("-l", binary(), "-m", 64, *files, "-x", 1, 2, status=1, cwd=CONCURRENT).decode()
    assert emulated == said, emulated
    hosted = run("-l", binary(), "-m", 64, "-l", binary(), "-y", 40, *files, "-x", 1, 2, status=1, cwd=CONCURRENT).decode()
    assert hosted == said, hosted
    bad = run(*files, "-R", 1, "0*1 7*2", status=2, cwd=CONCURRENT).decode()
    assert "expected a schedule such as" in bad


COURSE = ROOT.parent / "docs/course"


def test_course():
    """Each lesson's program runs; its exercise as given is refused, and its solution is not."""
    lessons = sorted(p for p in COURSE.iterdir() if p.is_dir())
    assert len(lessons) == 10
    for lesson in lessons:
        words = (lesson / "run").read_text().split()
        races = lesson.name[:2] in ("08", "09")  # whose programs are to fail
        said = run(*words, status=1 if races else 0)
        assert len(said) > 50, lesson
        words = (lesson / "check").read_text().split()
        for file, status in (("exercise.c", 1), ("solution.c", 0)):
            said = run(*(lesson / file if word == "EXERCISE" else word for word in words), status=status)
            assert status == 0 or len(said) > 20, lesson
        titles = [(lesson / "README.md").read_text().split("\n")[0], (COURSE / "README.md").read_text()]
        assert f"]({lesson.name}/README.md)" in titles[1] and titles[0].startswith(f"# {int(lesson.name[:2])}. ")
    say(f"{len(lessons)} lessons")


def measure():
    """No test: the figures that the README gives."""
    def timed(what, *arguments, status=0, cwd=None):
        begin = time.perf_counter()
        said = run(*arguments, status=status, cwd=cwd)
        spent = time.perf_counter() - begin
        say(f"{what}: {spent:.2f} s")
        return spent, said

    made = binary()
    timed("selfie compiles itself", "-c", "selfie.c", "-o", scratch / "again.m")
    spent, said = timed("selfie compiles itself on mipster", "-v", "-l", made, "-m", 16, "-c", "selfie.c", "-o", scratch / "again.m")
    millions = int(re.search(rb"(\d+) million", said).group(1))
    say(f"  {millions} million instructions, {millions / spent:.0f} million a second")
    loop = write("loop.c", "int main() { int i; int* p; p = malloc(400); i = 0; while (i < 20000000) { *(p + i % 100) = i; i = i + 1; } return 0; }\n")
    spent, said = timed("a loop of loads, stores and divisions", "-v", "-c", loop, "-m", 1)
    millions = int(re.search(rb"(\d+) million", said).group(1))
    say(f"  {millions} million instructions, {millions / spent:.0f} million a second")
    timed("mipster on mipster compiles atoi.c", "-l", made, "-m", 64, "-l", made, "-m", 24, "-c", "examples/atoi.c")
    spent, said = timed("ABA, three contexts, all schedules with a tag", "-c", "treiber_tagged.c", "stack_clients.c", "-x", 1, "all", cwd=CONCURRENT)
    say("  " + said.decode().splitlines()[0])
    spent, said = timed("ABA, three contexts, without", "-c", "treiber.c", "stack_clients.c", "-x", 1, "all", status=1, cwd=CONCURRENT)
    say("  " + said.decode().splitlines()[0])


if __name__ == "__main__":
    parts = {name.removeprefix("test_").replace("__", "@"): part for name, part in list(globals().items()) if name.startswith("test_")}
    parts["measure"] = measure
    if len(sys.argv) < 3 or (sys.argv[1] not in parts and sys.argv[1] != "everything"):
        sys.exit(f"usage: check.py PART SELFIE [COMPILER]; the parts: {' '.join(parts)}")
    selfie = str(Path(sys.argv[2]).resolve())
    compiler = sys.argv[3] if len(sys.argv) > 3 else compiler
    chosen = [name for name in parts if name != "measure"] if sys.argv[1] == "everything" else [sys.argv[1]]
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        for name in chosen:
            begin = time.perf_counter()
            try:
                parts[name]()
            except AssertionError as error:
                traceback.print_exc(limit=-1)
                sys.exit(f"{name}: {error}")
            if len(chosen) > 1:
                say(f"-- {name}: {time.perf_counter() - begin:.1f} s")
