#!/usr/bin/env python3
"""The Promela model of a protocol, verified by spin: every state of it, twice.

    promela.py verify MODEL STATES [-DNAME=VALUE …]   no error, and at least so many states
    promela.py mutants MODEL [-DNAME=VALUE …]         each of MUTANTS must end in an error

The first time: no assertion fails, and nobody ends anywhere but at an end. The second: no execution is infinite, whoever is
scheduled. A longer measure by hand: more VISITS, OPERATIONS, RAIDS, POSTS and ADOPTIONS; a set gives all five.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SEARCHES = {
    "assertions and ends": (["-DSAFETY"], []),
    "infinite executions": (["-DNP"], ["-l"]),
}
SKIPPED = 77

# (what is broken, text, replacement)
MUTANTS = [
    ("no membarrier", "        membarrier();\n", ""),
    ("the gate is closed after the fence", "        store(OPEN, 0);\n        membarrier();\n", "        membarrier();\n        store(OPEN, 0);\n"),
    ("out before the last use", "           begin_use();\n           end_use();\n           store(ACTIVE, 0);\n",
     "           store(ACTIVE, 0);\n           begin_use();\n           end_use();\n"),
    ("looks at the gate before it is announced", "        store(ACTIVE, 1);\n        open = memory[OPEN];\n",
     "        open = memory[OPEN];\n        store(ACTIVE, 1);\n"),
    ("opens what it has not claimed", "           step(SHUT, CLAIMED, open);\n", "           open = (memory[STATE] == SHUT);\n"),
    ("opens, and gives back first", "              store(OPEN, 1);\n              step(CLAIMED, RUNNING, done)\n",
     "              step(CLAIMED, RUNNING, done);\n              store(OPEN, 1)\n"),
    ("leaves it open", "        store(OPEN, 0);\n        step(RUNNING, IDLE, done);\n", "        step(RUNNING, IDLE, done);\n"),
    ("claims without a look at active", "out = (memory[ACTIVE] == 0);", "out = 1;"),
    ("settles without a look", "  store(STATE, IDLE);\n  recheck(done)\n", "  store(STATE, IDLE)\n"),
    ("looks without a fence", "  :: fence();\n     if\n     :: memory[WAITING] == 0", "  :: if\n     :: memory[WAITING] == 0"),
    ("the leaver does not look", ":: done -> recheck(done); done = 0", ":: done -> done = 0"),
    ("the poster does not look", ":: memory[STATE] == IDLE -> step(IDLE, DRAINING, done)", ":: false -> skip"),
    ("the owner waits for the claimer", "           step(CLAIMED, ABANDONED, done); /* give_way */\n           done = !done\n", "           skip\n"),
    ("the poster waits for who drains", ":: memory[STATE] == IDLE -> step(IDLE, DRAINING, done)\n     :: else -> done = 0\n",
     ":: memory[STATE] != RUNNING -> do :: step(IDLE, DRAINING, done); if :: done -> break :: memory[STATE] == RUNNING -> break :: else -> skip fi od\n     :: else -> done = 0\n"),
]


def search(text, folder, compiler_flags, run_flags, defines):
    """Errors and states of one search, and what it printed."""
    (folder / "model.pml").write_text(text)
    for command in (["spin", "-a", *defines, "model.pml"], ["gcc", "-O1", "-w", "-DCOLLAPSE", *compiler_flags, "-o", "pan", "pan.c"]):
        made = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if made.returncode != 0 or "rror" in made.stdout:
            sys.exit(f"{' '.join(command)}:\n{made.stdout}{made.stderr}")
    said = subprocess.run(["./pan", "-m1000000", *run_flags], cwd=folder, capture_output=True, text=True).stdout
    errors, states = re.search(r"errors: (\d+)", said), re.search(r"(\d[\d.e+]*) states, stored", said)
    if not errors or not states or "max search depth too small" in said or "Search not completed" in said and errors[1] == "0":
        sys.exit(f"pan did not finish its search:\n{said}")
    return int(errors[1]), int(float(states[1])), said


def verify(text, floor, defines):
    good = True
    for title, (compiler_flags, run_flags) in SEARCHES.items():
        with tempfile.TemporaryDirectory() as folder:
            errors, states, said = search(text, Path(folder), compiler_flags, run_flags, defines)
        verdict = "ok" if errors == 0 and states >= floor else "TOO FEW" if errors == 0 else "VIOLATION"
        print(f"{title:22} {states:9} states, errors: {errors}  {verdict}", flush=True)
        if verdict == "VIOLATION":
            print(said)
        good &= verdict == "ok"
    return good


def mutants(text, defines):
    survivors = 0
    for name, old, new in MUTANTS:
        if text.count(old) != 1:
            sys.exit(f"promela.py: '{name}' no longer fits the model")
        died = ""
        for title, (compiler_flags, run_flags) in SEARCHES.items():
            with tempfile.TemporaryDirectory() as folder:
                errors, _, said = search(text.replace(old, new), Path(folder), compiler_flags, run_flags, defines)
            if errors:
                what = re.search(r"pan:\d*:? *(.*?)(?: \(at depth|$)", said, re.M)
                died = f"dies: {what[1] if what else 'an error'} ({title})"
                break
        survivors += not died
        print(f"{name:44} {died or 'SURVIVES'}", flush=True)
    print(f"{len(MUTANTS)} mutants, {survivors} survive")
    return survivors == 0


def wrong(why):
    print(f"promela.py: {why}\nusage: promela.py verify MODEL STATES [-DNAME=VALUE …] | mutants MODEL [-DNAME=VALUE …]", file=sys.stderr)
    return 2


def main(words):
    what, *rest = words or [""]
    if what not in ("verify", "mutants"):
        return wrong(f"no '{what}'" if what else "what?")
    numbers = 1 if what == "verify" else 0
    if len(rest) < 1 + numbers:
        return wrong(f"{what} wants a model{' and a number of states' if numbers else ''}")
    model, floor, defines = rest[0], rest[1:1 + numbers], rest[1 + numbers:]
    if not all(re.fullmatch(r"\d+", number, re.ASCII) for number in floor):
        return wrong(f"'{floor[0]}' is no number of states")
    if odd := [word for word in defines if not re.fullmatch(r"-D\w+=\w+", word)]:
        return wrong(f"'{odd[0]}' is no -DNAME=VALUE")
    try:
        text = Path(model).read_text()
    except OSError as why:
        return wrong(f"cannot read {model}: {why.strerror}")
    except ValueError:
        return wrong(f"{model} is no model")
    if not all(map(shutil.which, ("spin", "gcc"))):
        print("skipped: spin is not installed")
        return SKIPPED
    return 0 if (verify(text, int(floor[0]), defines) if what == "verify" else mutants(text, defines)) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
