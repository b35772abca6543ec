"""db_bench.py DB_BENCH SCALE: fills a database, reads it, overwrites it, on two threads; how much was found is seen."""

import re
import shutil
import sys

from clocked import Failed, tell

DB_BENCH, SCALE = sys.argv[1], float(sys.argv[2])


def job(clocked):
    shutil.rmtree("database", ignore_errors=True)
    text = clocked.run([DB_BENCH, "--benchmarks=fillrandom,readrandom,overwrite,readseq", f"--num={int(30_000 * SCALE)}", "--threads=2",
                        "--value_size=300", "--seed=1", "--db=database", "--write_buffer_size=8388608", "--max_background_jobs=2",
                        "--compression_type=none", "--sync=0", "--disable_wal=0"])
    found = re.findall(rb"^(\w+)\s*:.*?;?\s*(\(\d+ of \d+ found\))?$", text, re.MULTILINE)
    names = {name for name, _ in found}
    if not {b"fillrandom", b"readrandom", b"overwrite", b"readseq"} <= names:
        raise Failed(f"db_bench reports only {sorted(names)}")
    clocked.see(repr([found for name, found in found if name == b"readrandom"]).encode())
    shutil.rmtree("database", ignore_errors=True)


tell(job)
