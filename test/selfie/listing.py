"""listing — the code that comes out: the talk's listing, the encoding, the trace and the profile."""

import re

from harness import ROOT, binary, run, say, write


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
    # What an int cannot count any more: by a selfie that takes each execution for so many.
    once = "add_count(executions, million_executions, i, 1, 0);"
    text = (ROOT / "selfie.c").read_text()
    assert text.count(once) == 1
    for millions in (5, 500):
        many = write("many.c", text.replace(once, once.replace("1, 0", f"1, {millions}")))
        each = millions * 1000000 + 1
        out = run("-c", many, "-m", 64, "-c", program, "-p", "-m", 1, status=20).decode()
        assert f"instructions: {total * each}\n" in out, out
        assert re.search(rf"calls: {6 * each}\n +{5 * each}   83 %  twice\(\)\n +{each}   16 %  main\(\)\n", out), out
