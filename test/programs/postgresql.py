"""PostgreSQL: initdb, pgbench with 8 clients, its books balanced, queries that use much of the server, a dump restored."""

import hashlib
import pathlib

import driver

QUERIES = """
SELECT sum(abalance), count(*) FROM pgbench_accounts;
SELECT (SELECT sum(abalance) FROM pgbench_accounts) = (SELECT sum(bbalance) FROM pgbench_branches),
       (SELECT sum(tbalance) FROM pgbench_tellers) = (SELECT sum(delta) FROM pgbench_history), (SELECT count(*) FROM pgbench_history);
CREATE TABLE words AS SELECT i, md5(i::text) AS word, (i * 7919) % 997 AS grp, ARRAY[i, i % 7, i % 11] AS list,
  jsonb_build_object('i', i, 'half', i / 2, 'word', md5((i % 500)::text)) AS doc FROM generate_series(1, {rows}) AS i;
CREATE INDEX ON words USING gin (doc);
CREATE INDEX ON words (grp, word);
SELECT grp, count(*), min(word), max(word) FROM words GROUP BY grp ORDER BY grp LIMIT 20;
SET work_mem = '256kB';
SELECT md5(string_agg(word, ',' ORDER BY word DESC)), length(string_agg(word, '')) FROM words;
SELECT count(*) FROM words a JOIN words b ON a.word = md5((b.i % 500)::text);
SELECT count(*), sum((doc->>'half')::int) FROM words WHERE doc @> jsonb_build_object('word', md5('77'));
SELECT md5(jsonb_agg(doc ORDER BY i)::text) FROM words WHERE grp < 100;
SELECT regexp_replace(word, '([0-9]+)([a-f]+)', '<\\2\\1>', 'g') FROM words ORDER BY word LIMIT 10;
SELECT to_tsvector('english', string_agg(word || ' running rats ate ', ' ')) @@ to_tsquery('rat & run') FROM words WHERE i < 2000;
WITH RECURSIVE t(n, s) AS (SELECT 1, ''::text UNION ALL SELECT n + 1, s || n FROM t WHERE n < 2000) SELECT md5(max(s)) FROM t;
DO $$ DECLARE n int := 0; BEGIN
  FOR i IN 1..3000 LOOP BEGIN PERFORM 1 / (i % 3); EXCEPTION WHEN division_by_zero THEN n := n + 1; END; END LOOP;
  RAISE NOTICE 'caught %', n; CREATE TABLE caught AS SELECT n; END $$;
SELECT * FROM caught;
UPDATE words SET list = list || grp WHERE grp % 5 = 0;
VACUUM ANALYZE words;
SELECT sum(x) FROM words, unnest(list) AS x;
"""


def produce(world):
    bin = programs()
    data, sockets = world.path("data"), world.directory
    connection = ["-h", sockets, "-U", "tester"]
    world.run(bin / "initdb", "-D", data, "-U", "tester", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", timeout=100)
    server = [
        bin / "postgres",
        "-D",
        data,
        "-k",
        sockets,
        "-c",
        "listen_addresses=",
        "-c",
        "fsync=off",
        "-c",
        "shared_buffers=32MB",
        "-c",
        "max_parallel_workers_per_gather=2",
        "-c",
        "autovacuum_naptime=2s",
    ]

    def psql(*words, **how):
        return world.run(bin / "psql", *connection, "-X", "-A", "-q", "-v", "ON_ERROR_STOP=1", *words, timeout=200, **how)

    def ready():
        try:
            psql("-c", "select 1", "postgres")
        except driver.Failed as early:
            raise ConnectionError from early

    results = {}
    with world.serve(*server, ready=ready):
        psql("-c", "create database bank", "postgres")
        world.run(bin / "pgbench", *connection, "-i", "-q", "-s", world.size(2, 20), "bank", timeout=300)
        for mode in ("simple", "prepared"):
            load = ["-c", 8, "-j", 2, "-t", world.size(200, 5000), "-M", mode, "--random-seed=42"]
            world.run(bin / "pgbench", *connection, "-n", *load, "bank", timeout=600)
        results["queries"] = psql("bank", given=QUERIES.replace("{rows}", str(world.size(40_000, 400_000))))
        dump = world.run(bin / "pg_dump", *connection, "--exclude-table-data=pgbench_history", "bank", timeout=200)
        psql("-c", "create database again", "postgres")
        psql("again", "-o", "/dev/null", given=dump)
        same = world.run(bin / "pg_dump", *connection, "--exclude-table-data=pgbench_history", "again", timeout=200)
        results["restored"] = tables(same) == tables(dump)
        results["words"] = psql("-c", "select md5(string_agg(w::text, '' order by i)) from words w", "again")
    return results


def tables(dump):
    """The dump without what is new in every run: the key of its restrict command."""
    lines = (line for line in dump.splitlines() if not line.startswith(("\\\\restrict", "\\\\unrestrict", "\\restrict", "\\unrestrict")))
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()


def programs():
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: int(path.parts[-3]))
    return found[-1].parent if found else None


driver.run(
    name="postgresql",
    needs=[(lambda: programs() is not None, "postgresql")],
    serves="postgres",
    proof=lambda base: [programs() / "postgres", "--version"],
    produce=produce,
    as_account=True,
)
