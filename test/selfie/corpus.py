"""corpus — programs that the language has, and programs that it has not."""

import random
import re
import subprocess

from harness import ROOT, binary, run, say, scratch, selfie, write


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


def test_corpus__long():
    """The longest text and the most lines there may be are read; what then comes in another file is refused."""
    main, more = "int main() { return 7; }\n", write("more.c", "int x;\n")
    limits = (main + " " * (1000000 - len(main)), "much"), (main + "\n" * 39998, "many lines of")
    for text, what in limits:
        full = write("full.c", text)
        run("-c", full, "-m", 1, status=7)
        for files in ((full, more), (write("over.c", text + "\n"),)):
            said = run("-c", *files, status=1).decode()
            assert said == f"selfie: too {what} source text\n", said


def test_corpus__broken_off():
    """A character or string ends with its line, and the last with its file; what stands in the lines behind is still read."""
    backslash = "expected one of n t 0 \\ ' \" after the backslash"
    for begun, wanted in (("'", "expected a character between the quotes"), ("'x", "expected ' after the character"),
                          ("'\\", backslash), ('"', 'expected " before the end of the {}'),
                          ('"x', 'expected " before the end of the {}'), ('"\\', backslash)):
        for end, behind in (("file", ""), ("line", "\n; }\nint f() { return b; }\n")):
            said = run("-c", write("begun.c", f"int main() {{\n  return {begun}{behind}"), status=1).decode()
            assert f"begun.c:2: {wanted.format(end)}\n" in said, said
            assert not behind or "begun.c:4: expected a variable that is declared before, found 'b'\n" in said, said


def test_corpus__names():
    """A name is as long as may be, in a binary too, and a longer one is refused."""
    def program(length):
        return write("names.c", f"int {'n' * length};\nint main() {{ return 7; }}\n")

    run("-c", program(4096), "-o", scratch / "names.m", "-m", 1, status=7)
    run("-l", scratch / "names.m", "-m", 1, status=7)
    said = run("-c", program(4097).name, status=1, cwd=scratch).decode()
    assert said == "names.c:1: expected a name of at most 4096 characters\nselfie: 1 error\n", said


def test_corpus__first():
    """What no file may begin with is refused, in whichever file it stands."""
    library = write("library.c", "int f() { return 7; }\n")
    for word, found in (("7;", "7"), ("x;", "'x'"), ("}", "'}'"), ("main", "'main'"), ('"a";', "a string")):
        first = write("first.c", f"{word}\nint main() {{ return 7; }}\n")
        for files in ((first.name,), (library.name, first.name)):
            said = run("-c", *files, status=1, cwd=scratch).decode()
            assert said == f"first.c:1: expected 'int' or 'void', found {found}\nselfie: 1 error\n", said


NESTED = [  # what begins and ends a level, within what, and what is in it
    ("(", ")", "return {};", "7"),
    ("(int)", "", "return {};", "7"),
    ("- ", "", "return {};", "7"),
    ("main(", ")", "return {};", "7"),
    ("*", "", "{} = 7;", "p"),
    ("if (1) ", "", "{}", "return 7;"),
    ("while (1) {", "}", "{}", "return 7;"),
]


def test_corpus__nested():
    """What is nested too deeply is refused, however deep it is, and less is not."""
    def said_of(part, depth, **arguments):
        begin, end, within, inmost = part
        program = write("nested.c", "int main(int p) {\n" + within.format(begin * depth + inmost + end * depth) + "\n}\n")
        return run("-c", program.name, cwd=scratch, status=(0, 1), **arguments).decode()

    refused = "nested.c:2: expected at most 1000 levels of nesting, found more\nselfie: 1 error\n"
    for part in NESTED:
        assert refused not in said_of(part, 990), part
        assert said_of(part, 900000 // len(part[0] + part[1])).endswith(refused), part
    assert said_of(NESTED[3], 2000, machine=("-l", binary(), "-m", 16)).endswith(refused)


def test_corpus__printed():
    """The course's library prints every number."""
    program = write("printed.c", """int main() {
  print_number(-2147483647 - 1);
  print(" ");
  print_number(2147483647);
  print(" ");
  print_number(-10);
  print(" ");
  print_number(0);
  print_flush();
  return 0;
}
""")
    assert run("-c", "library/print.c", program, "-m", 1) == b"-2147483648 2147483647 -10 0"


SCRAPS = [
    "int ", "int* ", "void ", "while ", "if (", "else ", "return ", "{", "}", "(", ")", ";", ",", "=", "==", "*", "/", "-",
    '"', "'", "x", "main", "0", "for (", "&&", "/*", "\\", "\n", "malloc(", "99999999999", "#",
]


def test_corpus__mangled():
    """Whatever a program is mangled to, the compiler ends, and says file and line of each mistake."""
    texts = [file.read_text() for folder in ("corpus/accept", "concurrent", "memory") for file in sorted((ROOT / folder).glob("*.c"))]
    seed = 2026
    chance = random.Random(seed)
    refused = 0
    for _ in range(300):
        text = chance.choice(texts)
        for _ in range(chance.randint(1, 5)):
            at = chance.randrange(len(text))
            what = chance.randrange(3)
            if what == 0:
                text = text[:at] + chance.choice(SCRAPS) + text[at:]
            elif what == 1:
                text = text[:at] + text[at + chance.randint(1, 12):]
            else:
                begin = chance.randrange(len(text))
                text = text[:at] + text[begin:begin + chance.randint(1, 60)] + text[at:]
        program = write("mangled.c", text)
        done = subprocess.run([selfie, "-c", program.name], cwd=scratch, capture_output=True, text=True, timeout=20, check=False)
        assert done.returncode in (0, 1), (done, text)
        lines = done.stderr.splitlines()
        assert (done.returncode == 1) == bool(lines), (done, text)
        if lines:
            refused += 1
            assert re.fullmatch(r"selfie: \d+ errors?", lines[-1]), (done, text)
            assert int(lines[-1].split()[1]) == len(lines) - 1, (done, text)
            for line in lines[:-1]:
                assert re.match(r"mangled\.c:\d+: \S", line), (line, text)
                assert int(line.split(":")[1]) <= text.count("\n") + 1, (line, text)
    say(f"seed {seed}: of 300 mangled programs {refused} were refused")
