"""redis.py SERVER BENCHMARK SCALE: known data down a pipe, then redis's own client; the digest of the data is seen."""

import sys

from clocked import HEAP, client, connect, tell

SERVER, BENCHMARK, SCALE = sys.argv[1], sys.argv[2], float(sys.argv[3])
SOCKET = "redis.socket"

# Debian links redis with jemalloc, and calls it by malloc's own name. So a preloaded heap comes first; and where none is
# preloaded, libc is, for "the system's malloc" is to be the C library's here too.
LIBC = {} if "LD_PRELOAD" in HEAP else {"LD_PRELOAD": "libc.so.6"}


def command(*words):
    parts = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)


def data(count):
    """Strings, hashes, sorted sets and lists of many sizes, changed and deleted."""
    for i in range(count):
        text = b"%d:" % i * (1 + i % 60)
        yield [
            command("SET", f"string:{i}", text),
            command("HSET", f"hash:{i % 500}", f"field{i}", text[:200]),
            command("ZADD", f"sorted:{i % 300}", i * 7 % 1000, f"member{i}"),
            command("RPUSH", f"list:{i % 200}", text[: i % 90]),
            command("APPEND", f"string:{i * 31 % (i + 1)}", b"more" * (i % 50)),
            command("SET", f"string:{i // 2}", text * 2),
            command("DEL", f"string:{i // 3}"),
        ][i % 7]


def job(clocked):
    settings = ["--port", "0", "--unixsocket", SOCKET, "--save", "", "--appendonly", "no", "--enable-debug-command", "local"]
    with clocked.serve([SERVER, *settings], lambda: connect(SOCKET).close(), LIBC):
        commands = list(data(int(70_000 * SCALE)))
        connection = connect(SOCKET)
        answers = connection.makefile("rb")
        with clocked.clock():
            for at in range(0, len(commands), 1000):
                batch = commands[at : at + 1000]
                connection.sendall(b"".join(batch))
                for _ in batch:
                    clocked.see(answers.readline())
        connection.sendall(command("DEBUG", "DIGEST"))
        clocked.see(answers.readline())
        connection.close()
        with clocked.clock():
            client(BENCHMARK, "-s", SOCKET, "-n", str(int(20_000 * SCALE)), "-c", "20", "-P", "16", "-r", "20000", "-d", "300", "-q",
                   "-t", "set,get,lpush,hset,zadd,lrange_100")


tell(job)
