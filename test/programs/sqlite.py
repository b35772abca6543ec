"""SQLite: rows loaded in SQL alone, indexed, joined, grouped, sorted, updated, deleted, vacuumed; the same text."""

import driver

SCRIPT = """
.bail on
.mode list
PRAGMA journal_mode = WAL;
PRAGMA cache_size = -20000;
PRAGMA temp_store = MEMORY;
CREATE TABLE item(id INTEGER PRIMARY KEY, grp INTEGER, name TEXT, price REAL, note BLOB);
CREATE TABLE grp(id INTEGER PRIMARY KEY, title TEXT);
BEGIN;
WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < {rows})
  INSERT INTO item SELECT i, (i * 7919) % 1009, printf('name-%x-%d', i * 2654435761 % 4294967296, i % 97),
                          (i * 31 % 10007) / 7.0, zeroblob(i % 40) FROM n;
WITH RECURSIVE n(i) AS (VALUES(0) UNION ALL SELECT i + 1 FROM n WHERE i < 1008)
  INSERT INTO grp SELECT i, printf('group %04d', i) FROM n;
COMMIT;
CREATE INDEX item_grp ON item(grp, price);
CREATE INDEX item_name ON item(name);
ANALYZE;
SELECT count(*), sum(price), sum(length(note)), min(name), max(name) FROM item;
SELECT title, count(*), round(avg(price), 6), max(name) FROM item JOIN grp ON grp.id = item.grp
  GROUP BY grp ORDER BY 3 DESC, 1 LIMIT 20;
SELECT id, name FROM item WHERE name GLOB 'name-f*-42' ORDER BY name LIMIT 25;
SELECT substr(name, 6, 2) AS p, count(DISTINCT grp), group_concat(DISTINCT id % 5) FROM item
  WHERE id < 200000 GROUP BY p ORDER BY p LIMIT 40;
SELECT id, rank() OVER (PARTITION BY grp ORDER BY price DESC, id) AS r FROM item WHERE grp < 3 ORDER BY r, id LIMIT 30;
UPDATE item SET note = name || name WHERE id % 11 = 0;
DELETE FROM item WHERE grp % 3 = 1;
SELECT count(*), sum(length(note)), sum(length(name)) FROM item;
SELECT json_group_array(json_object('g', g, 'n', n)) FROM (SELECT grp AS g, count(*) AS n FROM item GROUP BY grp ORDER BY grp LIMIT 50);
VACUUM;
PRAGMA integrity_check;
SELECT count(*), total(price), total(length(note)) FROM item;
"""


def produce(world):
    script = SCRIPT.replace("{rows}", str(world.size(250_000, 5 * 10**6)))
    return {"said": world.run("sqlite3", "-batch", world.path("load.db"), given=script, timeout=600)}


driver.run(name="sqlite", needs=[("sqlite3", "sqlite3")], serves="sqlite3", proof=["sqlite3", ":memory:", "select 1"], produce=produce)
