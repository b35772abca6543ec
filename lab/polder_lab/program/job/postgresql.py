"""postgresql.py SERVER DATA SCALE: tables made anew, pgbench with four clients on them, the books balanced."""

import sys
from pathlib import Path

from clocked import Failed, client, tell

BIN, DATA, SCALE = Path(sys.argv[1]).parent, Path(sys.argv[2]), float(sys.argv[3])
PREFIX = sys.argv[4:]  # how to be another user than root
LINK = ["-h", str(DATA), "-U", "tester", "postgres"]
BALANCE = """SELECT (SELECT sum(abalance) FROM pgbench_accounts) = (SELECT sum(delta) FROM pgbench_history),
  (SELECT count(*) FROM pgbench_history), (SELECT count(*) FROM pgbench_accounts);
SELECT md5(string_agg(md5(i::text), ',' ORDER BY i DESC)) FROM generate_series(1, 100000) AS i"""


def ready():
    try:
        client(BIN / "psql", "-X", "-q", "-c", "select 1", *LINK)
    except Failed as early:
        raise ConnectionError from early


def job(clocked):
    server = [*PREFIX, BIN / "postgres", "-D", DATA, "-k", DATA, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "autovacuum=off",
              "-c", "shared_buffers=64MB"]
    with clocked.serve(list(map(str, server)), ready):
        bench = BIN / "pgbench"
        client(bench, "-i", "-q", "-s", "2", *LINK)
        with clocked.clock():
            client(bench, "-n", "-c", "4", "-j", "2", "-t", str(int(500 * SCALE)), "-S", "--random-seed=42", *LINK)
            client(bench, "-n", "-c", "4", "-j", "2", "-t", str(int(250 * SCALE)), "--random-seed=42", *LINK)
            clocked.see(client(BIN / "psql", "-X", "-A", "-q", "-c", BALANCE, *LINK))


tell(job)
