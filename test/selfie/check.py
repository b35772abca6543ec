#!/usr/bin/env python3
"""check PART SELFIE [COMPILER] — one part of Selfie's tests, or everything.

The parts are the functions test_PART of the modules below; test_NAME__PART is NAME@PART. SELFIE is selfie.c as COMPILER has
made it. Nothing in them looks at a clock; `measure` is no test and prints figures.
"""

import sys
import time
import traceback

import corpus
import course
import explorer
import faults
import figures
import levels
import listing
import memory
import protocols

parts = {
    name.removeprefix("test_").replace("__", "@"): part
    for module in (levels, listing, corpus, faults, memory, protocols, explorer, course)
    for name, part in vars(module).items()
    if name.startswith("test_")
}

if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in (*parts, "measure", "everything"):
        sys.exit(f"usage: check.py PART SELFIE [COMPILER]; the parts: {' '.join(parts)}")
    if sys.argv[1] == "measure":
        figures.measure()
        sys.exit()
    chosen = parts if sys.argv[1] == "everything" else [sys.argv[1]]
    for name in chosen:
        begin = time.perf_counter()
        try:
            parts[name]()
        except AssertionError as error:
            traceback.print_exc(limit=-1)
            sys.exit(f"{name}: {error}")
        if len(chosen) > 1:
            print(f"-- {name}: {time.perf_counter() - begin:.1f} s", flush=True)
