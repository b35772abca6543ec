"""protocols — the concurrent programs: what holds, what fails, and mistakes that must be found."""

import re

from harness import CONCURRENT, run, say, write

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
    ("ms_queue.c", "done = compare_and_swap(next + last, 0, node);",
     "{\n      *(next + last) = node;\n      done = 1;\n    }", ["queue_clients.c"]),
    ("ms_queue.c", "if (compare_and_swap(head, first, after)) return result;",
     "if (1) {\n          *head = after;\n          return result;\n        }", ["queue_clients.c"]),
    ("anchor.c", "    old = *anchor;\n    *(next + block) = old % 8;",
     "    if (done == 0) old = *anchor;\n    if (*(next + block) == 0) *(next + block) = old % 8;", []),
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
