#!/usr/bin/env python3
"""Weakens one memory order at a time in the protocol files and says which models notice.

    mutants.py [--only NAME] [--compiler g++] [--jobs 2]

Every order stronger than relaxed, wherever it stands in a protocol file, becomes relaxed; a few other lines are broken on
purpose (BREAKS). A mutant dies when a model of that file fails. One that survives is printed and makes the exit status 1,
unless SURVIVES says why it must. Takes minutes: run by hand, after any change to a protocol file.
"""

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"

# protocol file -> the models that must notice
SUBJECTS = {
    "polder/sync/index_stack.hpp": ["polder/sync/index_stack_model.cpp"],
    "polder/sync/inbox.hpp": ["polder/sync/inbox_model.cpp"],
    "polder/sync/run_bitmap.hpp": ["polder/sync/run_bitmap_model.cpp"],
    "polder/sync/lab_state.hpp": ["polder/sync/lab_state_model.cpp"],
    "polder/mem/span_state_model.cpp": ["polder/mem/span_state_model.cpp"],
}

# (protocol file, what it breaks, text, replacement)
BREAKS = [
    ("polder/sync/index_stack.hpp", "pop does not count", "head(next, now.tag() + 1)", "head(next, now.tag())"),
    ("polder/sync/index_stack.hpp", "take_all does not count", "head(none, now.tag() + 1)", "head(none, now.tag())"),
    ("polder/sync/run_bitmap.hpp", "try_take_at overwrites", "while ((now & run) == 0) {", "while (true) {"),
    ("polder/sync/lab_state.hpp", "runs before it is made", "lab_state::running, order::acq_rel)", "lab_state::running, order::acquire)"),
    ("polder/sync/lab_state.hpp", "no heavy fence", "const bool fenced = heavy_fence();", "const bool fenced = true;"),
    ("polder/sync/lab_state.hpp", "no light fence", "    signal_fence();", "    "),
    ("polder/sync/lab_state.hpp", "claims without a look at active", "fenced && active_", "fenced || active_"),
    ("polder/sync/lab_state.hpp", "key not closed", "    key_.store(no_key, order::relaxed);\n", ""),
    ("polder/sync/lab_state.hpp", "limit not closed", "    limit_.store(0, order::relaxed);\n", ""),
    ("polder/sync/lab_state.hpp", "leaver does not look again", "if (!pending() || !try_drain()) return;", "return;"),
    ("polder/sync/lab_state.hpp", "poster does not look", "    if (!try_drain()) return;\n    drain();\n    settle(pending, drain);", "    (void)drain, (void)pending;"),
    ("polder/sync/lab_state.hpp", "claim ends before it is opened",
     "    open();  // before the CAS: after it, the next claimer may have closed it\n    return step(lab_state::claimed, lab_state::running, order::release, order::acquire);",
     "    const bool mine = step(lab_state::claimed, lab_state::running, order::release, order::acquire);\n    open();\n    return mine;"),
    ("polder/sync/lab_state.hpp", "gives way before it is out",
     "    exit();  // before the CAS: after it, `active` belongs to the LAB's next owner\n    return step(lab_state::claimed, lab_state::abandoned, order::release,\n                order::acquire);",
     "    const bool gone = step(lab_state::claimed, lab_state::abandoned, order::release, order::acquire);\n    exit();\n    return gone;"),
]

SPANS = "polder/mem/span_state_model.cpp"
BREAKS += [
    (SPANS, "owner not looked up again", "if (words[b->span].load(order::relaxed) == l + 1) {", "if (true) {"),
    (SPANS, "adoption leaves the word", "      words[s].store(to + 1, order::relaxed);\n", ""),
    (SPANS, "span to the pool while listed", "      unlist(l, b->span);\n      to_pool", "      to_pool"),
    (SPANS, "post and forget", "labs[owner - 1].door.posted(", "(void)std::make_pair("),
    (SPANS, "empty span stays", "s.used.get() == 0) {", "s.used.get() == 99) {"),
]

# (protocol file, name of the mutant) -> why no model can notice
SURVIVES = {
    ("polder/sync/index_stack.hpp", "pop, order 2: acquire -> relaxed"):
        "survives, and may: a successful pop needs no order (see head_), compilers want one above the failure's",
    ("polder/sync/lab_state.hpp", "try_claim, order 1: acquire -> relaxed"):
        "survives, and may: the heavy fence that follows is an acquire fence; the order is there for the reader",
}

ORDER = re.compile(r"order::(acquire|release|acq_rel|seq_cst)")


def code_of(line):
    return line.split("//", 1)[0]


def mutants(file):
    """Yields (name, text) for one protocol file."""
    text = (SOURCE / file).read_text()
    lines = text.split("\n")
    function, nth = "", {}
    for number, line in enumerate(lines):
        named = re.match(r"  (?:\[\[nodiscard\]\] )?\w[\w:<>]* (\w+)\(.*\{", line)
        if named:
            function = named[1]
        for found in () if file.endswith("_model.cpp") else ORDER.finditer(code_of(line)):
            weak = line[: found.start()] + "order::relaxed" + line[found.end():]
            nth[function] = nth.get(function, 0) + 1
            name = f"{function}, order {nth[function]}: {found[1]} -> relaxed (line {number + 1})"
            yield name, "\n".join(lines[:number] + [weak] + lines[number + 1:])
    for subject, name, old, new in BREAKS:
        if subject == file:
            if text.count(old) != 1:
                sys.exit(f"mutants.py: '{name}' no longer fits {file}")
            yield name, text.replace(old, new)


def run(compiler, file, name, text):
    """Compiles and runs the models of one mutant; returns what the first one to notice printed, or None."""
    with tempfile.TemporaryDirectory() as folder:
        mutated = Path(folder) / file
        mutated.parent.mkdir(parents=True)
        mutated.write_text(text)
        for model in SUBJECTS[file]:
            program = Path(folder) / "model"
            built = subprocess.run(
                [compiler, "-std=c++20", "-O1", "-w", "-DPOLDER_MODEL", f"-I{folder}", f"-I{SOURCE}",
                 f"-I{ROOT / 'test/model'}", mutated if model == file else SOURCE / model, "-o", program],
                capture_output=True, text=True)
            if built.returncode != 0:
                sys.exit(f"mutants.py: {file}: {name} does not compile:\n{built.stderr}")
            try:
                ran = subprocess.run([program], capture_output=True, text=True, errors="replace", timeout=600)
            except subprocess.TimeoutExpired:
                return "does not end"
            if ran.returncode != 0:
                for line in ran.stdout.split("\n"):
                    if "VIOLATION: " in line:
                        title = line.split("  ")[0].removeprefix("model ")
                        return f"{line.split('VIOLATION: ')[1]} in '{title}'"
                return f"status {ran.returncode}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", help="mutants whose 'file: name' contains this")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()

    work = [(file, name, text) for file in SUBJECTS for name, text in mutants(file)
            if arguments.only in f"{file}: {name}"]
    if not work:
        sys.exit(f"mutants.py: no mutant contains '{arguments.only}'; the files are: {', '.join(SUBJECTS)}")
    survivors = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        outcomes = pool.map(lambda job: run(arguments.compiler, *job), work)
        for (file, name, _), noticed in zip(work, outcomes):
            verdict = f"dies: {noticed}" if noticed else SURVIVES.get((file, name.split(" (")[0]), "SURVIVES")
            survivors += verdict == "SURVIVES"
            print(f"{Path(file).name:18} {name:58} {verdict}", flush=True)
    print(f"{len(work)} mutants, {survivors} survive without a reason")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
