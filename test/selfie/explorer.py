"""explorer — the explorer against what can be counted by hand, in each way to fail, and once more."""

import re
from math import factorial
from xml.etree import ElementTree

from harness import CONCURRENT, ROOT, binary, run, say, scratch, write
from protocols import explore

# Two states that differ only in where the library was called from, in the argument of an operation that is about to begin, or in
# where the heap ends: who takes one for the other misses what fails.
UNLIKE = (
    """int threads = 2;
int* p;
int* q;
void before() { p = malloc(4); q = malloc(4); }
void thread(int self) {
  if (self == 0) {
    compare_and_swap(p, 5, 6);
    compare_and_swap(p, 5, 6);
    compare_and_swap(p, 5, 6);
    *q = 1;
  } else {
    assert(*q == 0);
    compare_and_swap(p, 5, 6);
  }
}
""",
    """int threads = 2;
int* n;
int* cell;
void before() { n = malloc(4); cell = malloc(4); }
void thread(int self) {
  int seen;
  if (self == 0) {
    seen = *n;
    invoke(1, 5 + seen);
    seen = 0;
    *cell = 0;
    respond(0);
  } else {
    *n = 1;
    *cell = 0;
  }
}
void after() { invoke(2, 0); respond(5); }
""",
    """int threads = 2;
int* x;
int* q;
void before() { x = malloc(4); q = malloc(4); }
void thread(int self) {
  int* p;
  if (self == 0) {
    if (*x == 0) p = malloc(8);
    else p = malloc(4000);
    p = 0;
    *q = 1;
    p = malloc(4);
    assert((int)p < (int)q + 1000);
  } else {
    *x = 1;
    *q = 2;
  }
}
""",
)


def test_explorer__counted():
    """The explorer against what can be counted by hand: schedules of steps that all conflict."""
    def program(threads, steps):
        body = "*cell = self; " * steps
        return write("count.c", f'''int threads = {threads};
int* cell;
void before() {{ cell = malloc(4); }}
void thread(int self) {{ {body} }}
''')
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
    # A word may be private until a pointer to it is published: too early, and the other sees it before its value.
    for text, status in (("*node = 5; *cell = (int)node;", 0), ("*cell = (int)node; *node = 5;", 1)):
        published = write("published.c", "int* cell; int* node; void before() { cell = malloc(4); node = malloc(4); } "
                          f"void thread(int self) {{ int* p; if (self == 0) {{ {text} }} else {{ p = (int*)*cell; "
                          "if (p != 0) assert(*p == 5); } }")
        for flags in ([], ["-f"]):
            run("-c", published, *flags, "-x", 1, "all", status=status)
    for text in UNLIKE:
        for flags in ([], ["-f"]):
            run("-c", write("unlike.c", text), *flags, "-x", 1, "all", status=1)
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
        return said

    cell = "int* cell; void before() { cell = malloc(8); } "
    fails(cell + "void thread(int self) { *cell = self; assert(*cell == self); }",
          r"FAILED in schedule \d+: an assertion does not hold, in thread 0")
    fails(cell + "void thread(int self) { *cell = 1; *(cell + 5) = 1; }", "access to neither data, heap nor stack")
    fails(cell + "void thread(int self) { while (*cell == 0) yield(); }", "everyone waits for another's write")
    fails(cell + "void thread(int self) { while (1) *cell = self; }", "no end: too many steps")
    # Who waits without yielding may wait for ever, alone or for who never comes; who yields is not asked again before a write.
    spinning = cell + "void thread(int self) { while (compare_and_swap(cell, 0, 1) == 0) %s; *cell = 0; }"
    for bound in (1, "all"):
        said = fails(spinning % "self = self", "no end: all is as it was some steps before", ("-x", 1, bound))
        schedule = re.search(r"schedule: (.*)", said).group(1)
        again = run("-c", scratch / "fails.c", "-R", 1, schedule, status=1).decode()
        assert "FAILED: no end: all is as it was some steps before" in again, again
        assert run("-c", write("yields.c", spinning % "yield()"), "-x", 1, bound).endswith(b"no failure\n")
    fails(cell + "void thread(int self) { if (self) while (*cell == 0) self = 1; else *cell = 0; }", "no end: all is as it was")
    fails("void thread(int self) { while (1) self = self + 1; }", "out of fuel")
    fails(cell + "void thread(int self) { write(1, cell, 4); }", "a call that has no place")
    fails(cell + "void thread(int self) { *cell = *cell + 1; } void after() { assert(*cell == 2); }", r"in after\(\)")
    fails(cell + "int f(int n) { return f(n + 1) + 1; } void thread(int self) { f(0); }", "access to neither")
    for kind in (-1, 0, 5):
        fails(cell + f"void thread(int self) {{ invoke({kind}, 0); *cell = self; respond(0); }}", "a call that has no place")
    guest = "int* state; state = malloc(176); *(state + 37) = 1; hypster_run(state);"
    for calls in ("invoke(5, 0);", "respond(0);", "exit(0);", guest):
        early = write("early.c", f"void before() {{ {calls} }} void thread(int self) {{ }}")
        for malloc in ({}, {"MALLOC_PERTURB_": "85"}):  # what the system's malloc gives may hold anything
            said = run("-c", early, "-x", 1, 1, status=3, cwd=scratch, environment=malloc).decode()
            assert re.match(r"selfie: \S+early.c:1: a call that has no place in an explored program by syscall at ", said), said
    queue = "void thread(int self) { invoke(3, self + 1); *cell = self; respond(0); invoke(4, 0); respond(7); }"
    fails(cell + queue, "the history is not linearizable")
    order = "void thread(int self) { if (self == 0) { invoke(3, 1); *cell = 1; respond(0); invoke(3, 2); *cell = 2; respond(0); " \
            "invoke(4, 0); *cell = 3; respond(2); } }"  # a queue gives 1 before 2: the first enqueue ended before the second began
    fails(cell + order, "the history is not linearizable")
    fails(cell + "void thread(int self) { *cell = self; assert(*cell == self); }", "an assertion does not hold", ("-r", 1, 1000, 7))
    said = run("-c", write("random.c", cell + "void thread(int self) { *cell = self; }"), "-r", 1, 100, 7).decode()
    assert said.startswith("seed 7\n") and "100 schedules at random" in said, said
    for seed in (0, 1, 311242, 1000002, 2147483647):  # from each of them two additions collide soon
        assert b"FAILED" in run("-c", ROOT.parent / "docs/course/08-a-race/program.c", "-r", 1, 1000, seed, status=1)


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
    rows = ElementTree.fromstring(picture).findall("{http://www.w3.org/2000/svg}rect")
    assert len(rows) == len(steps) + 1, (len(rows), len(steps))
    assert picture == (ROOT.parent / "docs/pictures/selfie-aba.svg").read_text(), "the README's picture is another one"
    emulated = run("-l", binary(), "-m", 64, *files, "-x", 1, 2, status=1, cwd=CONCURRENT).decode()
    assert emulated == said, emulated
    hosted = run("-l", binary(), "-m", 64, "-l", binary(), "-y", 40, *files, "-x", 1, 2, status=1, cwd=CONCURRENT).decode()
    assert hosted == said, hosted
    # A binary is drawn with as much of its source as there still is.
    source = write("drawn.c", "int* cell;\n\n\nvoid thread(int self) {\n  assert(self == 2);\n}\n")
    run("-c", source, "-o", scratch / "drawn.m")
    for text, line in ((source.read_text(), "assert(self == 2);"), ("int* cell;\n", "")):
        source.write_text(text)
        run("-l", scratch / "drawn.m", "-g", scratch / "drawn.svg", "-x", 1, 1, status=1)
        assert f">thread 0, line 5: this does not hold: {line}</text>" in (scratch / "drawn.svg").read_text()
    # Where nothing fails nothing is drawn, and a picture that is there stays.
    for how in (("-x", 1, 1), ("-r", 1, 10, 7)):
        run("-c", write("holds.c", "void thread(int self) { }"), "-g", scratch / "drawn.svg", *how)
        assert "this does not hold" in (scratch / "drawn.svg").read_text()
    bad = run(*files, "-R", 1, "0*1 7*2", status=2, cwd=CONCURRENT).decode()
    assert "expected a schedule such as" in bad
