"""Runs programs on heaps with one planted fault each. Every fault must be noticed, or the suite proves nothing.

The short form asks no further program about a fault that one has noticed; the full form asks all.
"""

import os
import pathlib
import subprocess
import sys

# Short ones that together use malloc, calloc and realloc hard. Not sqlite: on a heap that lies it may never end.
PROGRAMS = "lua perl git ruby".split()


def main(libraries, programs):
    noticed, ran = {library: [] for library in libraries}, set()
    for program in programs:
        asked = [library for library in libraries if os.environ.get("POLDER_TEST_FULL") == "1" or not noticed[library]]
        if not asked:
            break
        script = pathlib.Path(__file__).resolve().parents[1] / f"{program}.py"
        # All at once: the system's malloc runs it once for all of them.
        done = subprocess.run([sys.executable, script, *asked], capture_output=True, text=True, timeout=3000)
        if done.returncode == 77 or "says nothing about a heap" in done.stdout:
            print(done.stdout, end="")
            continue
        ran.add(program)
        for library in asked:
            if f"\n  {pathlib.Path(library).name}: FAILED" in done.stdout:
                noticed[library].append(program)
    for library, by in noticed.items():
        print(f"{pathlib.Path(library).stem}: noticed by {', '.join(by) or 'NOBODY'} of {', '.join(sorted(ran))}")
    return 0 if ran and all(noticed.values()) else 1


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: broken.py LIBRARY.so... [--programs=A,B]")
    words = sys.argv[1:]
    chosen = words.pop().split("=", 1)[1].split(",") if words[-1].startswith("--programs=") else PROGRAMS
    sys.exit(main(words, chosen))
