"""faults — what machines, binaries and command lines are told when they are wrong."""

import array
import os
import re
import subprocess

from harness import ROOT, binary, compiler, run, scratch, selfie, write


def test_faults__machine():
    """Out of memory, bad accesses, unknown calls, division by zero: a precise message and status 3."""
    def fault(text, wanted, status=3, megabytes=1):
        said = run("-c", write("fault.c", text), "-m", megabytes, status=status, cwd=scratch).decode()
        assert re.fullmatch(wanted, said.strip()), f"{text}\nsaid   {said}\nwanted {wanted}"

    at = r" at \$pc=0x[0-9A-F]{8}"
    where = rf"selfie: {re.escape(str(scratch))}/fault\.c:1: "
    fault("int main() { return *((int*)1234567 + 0); }",
          where + r"unaligned access: 0x0012D687 is no multiple of 4 by lw \$t0,0\(\$t0\)" + at)
    fault("int main() { int* p; p = 0; return *p; }", where + r"access through a null pointer: 0x00000000 by lw \$t0,0\(\$t0\)" + at)
    fault("int main() { *((int*)400) = 1; return 0; }", where + r"access to code as if it were data: 0x00000190 by sw \$t1,0\(\$t0\)" + at)
    fault("int main() { return *((int*)-8); }", where + r"access to a negative address: 0xFFFFFFF8 by lw .*" + at)
    fault("int main() { return *((int*)4194304); }", where + r"access beyond the end of memory: 0x00400000 by lw .*" + at)
    fault("int main() { return *((int*)500000); }", where + r"access to neither data, heap nor stack: 0x0007A120 by lw .*" + at)
    fault("int main() { int a; a = 0; return 7 / a; }", where + r"division by zero by divu \$t0,\$t1" + at)
    fault("int f(int n) { return f(n + 1); } int main() { return f(0); }",
          where + r"out of memory: the stack has grown into the heap by .*" + at)
    said = run("-l", binary(), "-m", 2, "-c", "selfie.c", status=3).decode()
    assert re.fullmatch(r"selfie: out of memory: no room for \d+ bytes more\n", said), said
    said = run("-l", binary(), "-m", 1, "-c", "selfie.c", status=3).decode()
    assert said.startswith("selfie: out of memory"), said
    fault("int main() { assert(1 == 2); return 0; }", where + "this assertion does not hold by syscall" + at)
    for call in ("write(1, {}, 4)", "read(0, {}, 4)", "open({}, 0, 0)", "compare_and_swap({}, 0, 0)"):
        for address, wanted in ((0, "access through a null pointer: 0x00000000"),
                                (400, "access to code as if it were data: 0x00000190"),
                                (-8, "access to a negative address: 0xFFFFFFF8"),
                                (1234567, "unaligned access: 0x0012D687 is no multiple of 4"),
                                (500000, "access to neither data, heap nor stack: 0x0007A120"),
                                (4194304, "access beyond the end of memory: 0x00400000")):
            fault(f"int main() {{ return {call.format(f'(int*){address}')}; }}", f"{where}{wanted} by syscall{at}")
    fault("int main() { int* p; while (1) { p = malloc(4096); if (p == 0) exit(9); *p = 1; } }", "", status=9)
    run("-c", write("argv.c", "int main(int argc, int* argv) { return argc; }"), "-m", 1, *["x" * 50] * 9, status=10)


def test_faults__reading():
    """What there is to read is given at once, also where the buffer meets the end of a page; nobody waits for more."""
    program = write("reads.c", """int main() {
  int* p;
  int n;
  p = malloc(12288);
  p = (int*)(((int)p + 4095) / 4096 * 4096 + 4096 - 8);
  *(p + 2) = 1000000000;
  n = read(0, p, 100);
  write(1, p, 12);
  return n;
}
""")
    for machine in ([], ["-l", str(binary()), "-m", "32"]):
        for text, kept in ((b"12345678", b"12345678\x00\xca\x9a\x3b"), (b"123456789", b"123456789\xca\x9a\x3b")):
            reads, writes = os.pipe()  # and stays open
            os.write(writes, text)
            done = subprocess.run([selfie, *machine, "-c", program, "-m", "1"], stdin=reads, capture_output=True, timeout=20, check=False)
            os.close(reads)
            os.close(writes)
            assert (done.returncode, done.stdout) == (len(text), kept), done


def test_faults__hypervisor():
    """A state block that is none is refused: a guest reaches no memory but what it is given."""
    def refused(text, wanted):
        said = run("-c", write("fault.c", text), "-m", 1, status=3, cwd=scratch).decode()
        assert re.fullmatch(rf"selfie: .*/fault\.c:\d+: hypster_run with {wanted} by syscall at \$pc=0x[0-9A-F]{{8}}\n", said), f"{text}\nsaid {said}"

    refused("int main() { return hypster_run((int*)2); }", "an unaligned state block")
    for block in ("0", "400", "-400", "500000"):
        refused(f"int main() {{ return hypster_run((int*){block}); }}", "a bad state block")
    for low, pages in ((2147483647, 1), (4097, 1), (8196, 2), (-8192, 1)):
        refused(f"""int main() {{
  int* state;
  int* table;
  state = malloc(176);
  table = malloc(8);
  *(state + 33) = {max(low - 4, 0)};
  *(state + 36) = {low};
  *(state + 37) = {pages};
  *(state + 38) = (int)table;
  *(state + 39) = (int)table;
  *(state + 42) = 100;
  return hypster_run(state);
}}
""", "more code than pages")


def host_of(guest, rest):
    """A program that has a guest of one page: its words are set, with `state` and `memory` at hand, and then `rest` is done."""
    return f"""int main() {{
  int* state;
  int* table;
  int* memory;
  state = malloc(176);
  table = malloc(4);
  memory = malloc(8192);
  memory = (int*)(((int)memory + 4095) / 4096 * 4096);
  {guest}
  *(state + 36) = 4096;
  *(state + 37) = 1;
  *(state + 38) = (int)table;
  *(state + 39) = (int)memory;
  *(state + 42) = 10;
  assert(hypster_run(state) == 0);
  {rest}
}}
"""


def test_faults__division():
    """A division by zero that a hypervisor is told of leaves hi as it was: of 1,000,000 times itself 232."""
    run("-c", write("hi.c", host_of("""
  *memory = 8 * 2097152 + 8 * 65536 + 25;  // multu $t0,$t0
  *(memory + 1) = 8 * 2097152 + 27;        // divu $t0,$zero
  *(state + 8) = 1000000;
""", """
  assert(*(state + 40) == 6);
  return *(state + 34);
""")), "-m", 1, status=232)


def test_faults__changed_code():
    """Code that a guest has run and that was changed since is run as it is now, however it was changed."""
    for change in ("*memory = *(memory + 2);", "read(0, memory, 4);", "assert(compare_and_swap(memory, *memory, *(memory + 2)));"):
        program = write("changed.c", host_of("""
  *memory = 9 * 67108864 + 8 * 65536 + 41;        // addiu $t0,$zero,41
  *(memory + 1) = 12;                             // syscall
  *(memory + 2) = 9 * 67108864 + 8 * 65536 + 42;  // addiu $t0,$zero,42
""", f"""
  assert(*(state + 40) == 1);
  assert(*(state + 8) == 41);
  {change}
  *(state + 33) = 0;
  assert(hypster_run(state) == 0);
  return *(state + 8);
"""))
        word = (9 * 67108864 + 8 * 65536 + 42).to_bytes(4, "little")
        done = subprocess.run([selfie, "-c", program, "-m", "1"], input=word, capture_output=True, timeout=20, check=False)
        assert done.returncode == 42, (change, done)


def tiny():
    return list(memoryview(run_binary(write("tiny.c", "int main() { int i; i = 1; return i; }\n"))).cast("i"))


def patched(at, word):
    """selfie's own binary of a small program with another word behind its header, and with the sum that belongs to it."""
    words = tiny()
    words[8 + at] = word - (1 << 32) if word >= 1 << 31 else word
    total = 0
    for value in words[8:]:
        total = (total * 31 + value) & 0xFFFFFFFF
    words[7] = total - (1 << 32) if total >= 1 << 31 else total
    made = scratch / "patched.m"
    made.write_bytes(memoryview(array.array("i", words)).tobytes())
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
    run("-l", patched(14, 0x0FFFFFFF), "-p", "-m", 1, status=1)  # a jal to nowhere, which is never executed
    name = sum(tiny()[2:5]) + 2  # the first character of the first file's name
    for character in (0, 256, 0x80000000, 0xFFFFFFFF):
        said = run("-l", patched(name, character), "-S", "-", status=3).decode()
        assert said == f"selfie: {scratch}/patched.m: bad binary: the name of a file is missing\n", said


def test_faults__command_line():
    """A wrong command line is told what was expected, with status 2."""
    for words, wanted in ((["-x"], "before this"), (["-c"], "expected files after -c"), (["-k"], "expected an option, found -k"),
                          (["-c", "corpus/accept/void.c", "-m"], "expected megabytes"),
                          (["-c", "corpus/accept/void.c", "-m", "x"], "expected megabytes of memory from 1 to 1024, found x"),
                          (["-c", "corpus/accept/void.c", "-m", "1x"], "megabytes of memory from 1 to 1024, found 1x"),
                          (["-c", "concurrent/token.c", "-x", "1", "1.5"], "expected a bound on switches, or all, found 1.5"),
                          (["-c", "concurrent/token.c", "-x", "1", "all of them"], "or all, found all of them"),
                          (["-c", "concurrent/token.c", "-r", "1", "5", "7-"], "expected a seed from 0 to 2147483647, found 7-"),
                          (["-c", "concurrent/token.c", "-x", "1", "2147483648"], "or all, found 2147483648"),
                          (["-c", "concurrent/token.c", "-x", "1", "many"], "expected a bound on switches, or all, found many")):
        done = subprocess.run([selfie, *words], cwd=ROOT, capture_output=True, timeout=20, text=True)
        assert done.returncode == 2, (words, done)
        assert re.search(wanted, done.stderr), (words, done.stderr)
    assert run("-c", "examples/atoi.c", "-m", 1, status=1) == b"selfie: expected a procedure 'main' to run, found none\n"
    assert run("-c", "nowhere.c", status=1) == b"selfie: nowhere.c: this file cannot be read\n"
    fails = write("fails.c", "void thread(int self) { assert(0); }\n")
    for number in (2147483639, 2147483640, 2147483647):  # the largest there is
        assert b"an assertion does not hold" in run("-c", fails, "-x", 1, number, status=1)


def test_faults__output():
    """Output that cannot be written ends selfie with status 4 and a line about it."""
    with open("/dev/full", "wb") as full:
        done = subprocess.run([selfie, "-c", "corpus/accept/void.c", "-S", "-"], cwd=ROOT, stdout=full, stderr=subprocess.PIPE,
                              timeout=20, check=False)
    assert (done.returncode, done.stderr) == (4, b"selfie: the output could not be written\n"), done


def test_faults__short_writes():
    """Where the system writes less than it was given, each byte comes out once."""
    few = write("few.c", """#include <sys/syscall.h>
#include <unistd.h>
ssize_t write(int file, const void* bytes, size_t n) { return syscall(SYS_write, file, bytes, n < 7 ? n : 7); }
""")
    subprocess.run([compiler, "-shared", "-fPIC", few, "-o", scratch / "few.so"], check=True, timeout=60)
    words = "-c", "examples/atoi.c", "-S", "-"
    for machine in ((), ("-l", binary(), "-m", 32)):
        said = run(*words, machine=machine, environment={"LD_PRELOAD": str(scratch / "few.so")})
        assert len(said) > 4096 and said == run(*words), machine


def run_binary(source):
    made = scratch / "tiny.m"
    run("-c", source, "-o", made)
    return made.read_bytes()
