"""The real programs: each is given a small scripted job whose output is the same every time.

A job takes 0.3 to 1 s at scale 1. Its inputs are generated, never taken from the machine, so that the job is the same
everywhere. To add one: an entry below, and a script in job/. `compare` takes those of its set, in about five minutes; the
servers and the longer jobs (up to 3 s) are for bench.
"""

from __future__ import annotations

from polder_lab.program.described import BENCH, Program
from polder_lab.program.prepared import (
    compiler,
    db_bench,
    ghostscript,
    git,
    jq,
    large_compilation,
    lua,
    memcached,
    node,
    perl,
    postgresql,
    python,
    redis,
    ruby,
    sqlite,
    xalan,
    z3,
)

PROGRAMS: tuple[Program, ...] = (
    Program("python", "json, dictionaries, regular expressions in Python", ("python3",), "python3", python,
            {"PYTHONHASHSEED": "0"}),
    Program("python-malloc", "the same with Python's own small-object allocator switched off", ("python3",), "python3", python,
            {"PYTHONHASHSEED": "0", "PYTHONMALLOC": "malloc"}),
    Program("perl", "hashes of arrays, split, sort", ("perl",), "perl", perl, {"PERL_HASH_SEED": "0"}),
    Program("sqlite", "scripted load, index, joins, deletes", ("sqlite3",), "sqlite3", sqlite),
    Program("git", "log with patches and renames over 1,200 generated commits", ("git",), "git", git,
            {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}),
    Program("gcc", "g++ compiling templates", ("g++",), "g++", compiler),
    Program("clang", "clang++ compiling the same", ("clang++", "clang++-16", "clang++-15", "clang++-14"), "clang", compiler),
    Program("jq", "a long list of records parsed and regrouped", ("jq",), "jq", jq),
    Program("lua", "tables, closures, strings", ("lua5.4", "lua5.3", "lua"), "lua5.4", lua),
    Program("ruby", "strings and hashes under a garbage collector", ("ruby",), "ruby", ruby),
    Program("node", "buffers beside a JavaScript heap", ("node", "nodejs"), "nodejs", node),
    Program("redis", "a known data set, then redis-benchmark, over a unix socket", ("redis-server",), "redis-server redis-tools", redis,
            clients=("redis-benchmark",), clocks_itself=True),
    Program("memcached", "four connections set, delete and get", ("memcached",), "memcached", memcached, sets=BENCH, clocks_itself=True),
    Program("postgresql", "pgbench with four clients", ("/usr/lib/postgresql/*/bin/postgres",), "postgresql", postgresql, sets=BENCH,
            clients=("pgbench", "psql"), clocks_itself=True),
    Program("rocksdb", "db_bench fills, reads, overwrites, scans", ("db_bench",), "rocksdb-tools", db_bench, sets=BENCH,
            clocks_itself=True),
    Program("xalan", "an XML document sorted, grouped and rewritten by a stylesheet", ("xalan", "Xalan"), "xalan", xalan, sets=BENCH),
    Program("gcc-large", "gcc -O1 on 250 functions", ("gcc",), "gcc", large_compilation, sets=BENCH),
    Program("ghostscript", "three hundred pages of text and curves painted", ("gs",), "ghostscript", ghostscript, sets=BENCH),
    Program("z3", "arithmetic, bit vectors and a pigeonhole", ("z3",), "z3", z3, sets=BENCH),
)
