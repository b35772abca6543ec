-- A scripted load, an index, joins, groups and deletes, all in memory. ROWS is replaced by a number.
PRAGMA journal_mode = memory;
CREATE TABLE item(id INTEGER PRIMARY KEY, bucket INTEGER, name TEXT, price REAL);
BEGIN;
WITH RECURSIVE n(i, x) AS (
  SELECT 1, 12345 UNION ALL SELECT i + 1, (x * 1103515245 + 12345) % 2147483648 FROM n WHERE i < ROWS)
INSERT INTO item SELECT i, x % 1000, printf('item-%08x-%d', x, i), (x % 100000) / 100.0 FROM n;
COMMIT;
CREATE INDEX item_bucket ON item(bucket, name);
SELECT count(*), sum(price), max(name) FROM item;
SELECT bucket, count(*), group_concat(substr(name, 6, 4)) FROM item WHERE bucket % 97 = 0 GROUP BY bucket ORDER BY bucket;
SELECT count(*) FROM item a JOIN item b ON a.bucket = b.bucket AND b.id < 200 WHERE a.price > b.price;
UPDATE item SET name = name || upper(name) WHERE id % 3 = 0;
DELETE FROM item WHERE id % 7 = 0;
SELECT length(group_concat(name)) FROM item;
SELECT name FROM item ORDER BY name DESC LIMIT 5;
