#!/usr/bin/env python3
"""Which lines the white-box tests reached: a report in HTML, and a verdict on the slow paths.

    coverage.py begin BUILD        forgets what was reached
    coverage.py SOURCE BUILD       after the tests

Every line of SLOW_PATHS must have been reached, but those that test/proof/excused lists with a reason; a reason for a line
that was reached, or is there no more, is an error too. A reason that begins with CHANCE is of threads that have to meet between
two instructions: such a line may be reached. BUILD is a build of the preset coverage. The report is BUILD/report/index.html.
"""

import html
import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

SLOW_PATHS = ("src/polder/heap/polder/*.cpp", "src/polder/heap/polder/*.hpp", "src/polder/mem/arena.cpp", "src/polder/mem/grain_pool.cpp", "src/polder/mem/guarded_blocks.cpp",
              "src/polder/mem/huge_blocks.cpp", "src/polder/mem/run_samples.cpp")
NOT_AMONG_THEM = (
    "src/polder/heap/polder/validate.cpp",  # whose lines are there to fail
    "src/polder/heap/polder/links.hpp",  # which has none
)
CHANCE = "now and then:"
BESIDE = ("_test.cpp", "_model.cpp", "_fuzz.cpp", "_test.hpp", "_main.cpp")


def counts(source, build):
    """file -> line -> how often, of the library's own files."""
    lines = defaultdict(lambda: defaultdict(int))
    notes = [str(n) for n in build.rglob("*.gcno") if n.with_suffix(".gcda").exists()]
    if not notes:
        sys.exit(f"coverage.py: no test has run in {build}")
    said = subprocess.run(["gcov", "--json-format", "--stdout", *notes], cwd=build, capture_output=True, text=True, check=True).stdout
    for unit in said.splitlines():
        for file in json.loads(unit)["files"]:
            path = (build / file["file"]).resolve()
            if source / "src/polder" in path.parents and not path.name.endswith(BESIDE):
                for line in file["lines"]:
                    lines[str(path.relative_to(source))][line["line_number"]] += line["count"]
    return lines


def excuses(text):
    """(file, code) -> reason. A file's name, then its lines, each four blanks in, then their reason, two in."""
    known, file, waiting = {}, "", []
    for line in text.splitlines():
        if line.startswith("src/"):
            file = line.strip()
        elif line.startswith("    "):
            waiting.append(line.strip())
        elif line.startswith("  "):
            known |= {(file, code): line.strip() for code in waiting}
            waiting = []
    if waiting:
        sys.exit(f"coverage.py: no reason for {waiting}")
    return known


def judge(source, lines, excused):
    slow = sorted(str(p.relative_to(source)) for pattern in SLOW_PATHS for p in source.glob(pattern) if not p.name.endswith(BESIDE))
    slow = [file for file in slow if file not in NOT_AMONG_THEM]
    needed, troubles, looked_at, used = set(excused), [], 0, 0
    for file in slow:
        if file not in lines:
            troubles.append(f"{file}: no line of it was ever run")
            continue
        text = (source / file).read_text().splitlines()
        looked_at += len(lines[file])
        for number, count in sorted(lines[file].items()):
            if count == 0:
                key = (file, text[number - 1].strip())
                if key in excused:
                    used += 1
                    needed.discard(key)
                else:
                    troubles.append(f"{file}:{number}: not reached: {key[1]}")
    there = {(file, line.strip()) for file in slow for line in (source / file).read_text().splitlines()}
    for key in sorted(needed):
        if key not in there or not excused[key].startswith(CHANCE):
            troubles.append(f"{key[0]}: reached, or no longer there, and yet excused: {key[1]}")
    for trouble in troubles:
        print(trouble)
    print(f"coverage of the slow paths: {len(slow)} files, {looked_at} lines, {used} excused, {len(troubles)} troubles")
    return not troubles


STYLE = "body{font:14px sans-serif}pre{margin:0}td{padding:0 8px;font-family:monospace}.n{text-align:right;color:#777}.no{background:#fbb}.yes{background:#dfd}"


def page(title, rows):
    return f"<!doctype html><meta charset=utf-8><title>{title}</title><style>{STYLE}</style><h1>{title}</h1><table>{''.join(rows)}</table>\n"


def report(source, lines, folder):
    folder.mkdir(parents=True, exist_ok=True)
    index = []
    for file, known in sorted(lines.items()):
        name = file.replace("/", ".") + ".html"
        rows = []
        for number, code in enumerate((source / file).read_text().splitlines(), 1):
            count = known.get(number)
            kind, shown = ("", "") if count is None else ("yes" if count else "no", count)
            rows.append(f"<tr class='{kind}'><td class=n>{number}<td class=n>{shown}<td><pre>{html.escape(code)}</pre>")
        (folder / name).write_text(page(file, rows))
        reached = sum(count > 0 for count in known.values())
        index.append(f"<tr><td><a href='{name}'>{file}</a><td class=n>{reached} of {len(known)}<td class=n>{100 * reached // len(known)} %")
    (folder / "index.html").write_text(page("Lines that the white-box tests reached", index))
    print(f"report: {folder / 'index.html'}")


def main():
    if sys.argv[1] == "begin":
        for reached in Path(sys.argv[2]).rglob("*.gcda"):
            reached.unlink()
        return 0
    source, build = (Path(a).resolve() for a in sys.argv[1:3])
    lines = counts(source, build)
    report(source, lines, build / "report")
    return 0 if judge(source, lines, excuses((source / "test/proof/excused").read_text())) else 1


if __name__ == "__main__":
    sys.exit(main())
