"""Redis: redis-benchmark over a unix socket; a known data set is loaded, changed, saved, and loaded again: one digest.

Debian links Redis with jemalloc, so "the system's malloc" is jemalloc here. The preloaded heap still comes first.
"""

import driver


class Client:
    """Commands down a pipe, answers back: as much of the protocol as this needs."""

    def __init__(self, path):
        self.connection = driver.unix_connection(path, 120)
        self.answers = self.connection.makefile("rb")

    def close(self):
        self.answers.close()
        self.connection.close()

    def __call__(self, *commands):
        words = bytearray()
        for command in commands:
            parts = [part if isinstance(part, bytes) else str(part).encode() for part in command]
            words += b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)
        self.connection.sendall(words)
        answers = [self.answer() for _ in commands]
        for command, answer in zip(commands, answers, strict=True):
            if isinstance(answer, str) and answer.startswith("-"):
                raise driver.Failed(f"redis: {command[:3]}: {answer}")
        return answers[-1]

    def answer(self):
        line = self.answers.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("redis closed the connection")
        kind, rest = line[:1], line[1:-2]
        if kind == b"$":
            return None if rest == b"-1" else self.answers.read(int(rest) + 2)[:-2]
        if kind == b"*":
            return [self.answer() for _ in range(int(rest))]
        return int(rest) if kind == b":" else (kind + rest).decode()


def load(ask, count):
    for start in range(0, count, 1000):
        batch = []
        for i in range(start, start + 1000):
            text = (b"%d:" % i) * (1 + i % 60)
            batch.append(
                [
                    ["SET", f"string:{i}", text],
                    ["HSET", f"hash:{i % 500}", f"field{i}", text[:200], "n", i],
                    ["ZADD", f"zset:{i % 300}", i * 7 % 1000, f"member{i}"],
                    ["RPUSH", f"list:{i % 200}", text[: i % 90]],
                    ["SADD", f"set:{i % 100}", i, f"m{i}"],
                    ["APPEND", f"string:{i * 31 % (i + 1)}", b"more" * (i % 50)],
                    ["XADD", f"stream:{i % 20}", f"{i + 1}-1", "field", text[:30]],
                    ["DEL", f"string:{i // 2}"],
                ][i % 8]
            )
        ask(*batch)


def produce(world):
    # A server that its tester kills must not ask for a password or listen to a network.
    settings = world.write(
        "redis.conf", f'port 0\nunixsocket {world.path("socket")}\nsave ""\nappendonly no\ndir {world.directory}\nmaxmemory 2gb\n'
    )
    if "v=6" not in world.run("redis-server", "--version"):
        settings.write_text(settings.read_text() + "enable-debug-command local\nactivedefrag no\n")

    def connected():
        client = Client(world.path("socket"))
        try:
            client(["PING"])
        except driver.Failed as still_loading:
            raise ConnectionError from still_loading
        finally:
            client.close()

    results = {}
    with world.serve("redis-server", settings, ready=connected):
        ask = Client(world.path("socket"))
        count = world.size(40_000, 1_000_000)
        load(ask, count)
        results["digest of the known data"] = ask(["DEBUG", "DIGEST"])
        results["keys"] = ask(["DBSIZE"])
        world.run(
            "redis-benchmark",
            "-s",
            world.path("socket"),
            "-n",
            world.size(15_000, 1_000_000),
            "-c",
            50,
            "-P",
            4,
            "-r",
            20000,
            "-d",
            200,
            "-q",
            "-t",
            "set,get,incr,lpush,rpush,lpop,rpop,sadd,hset,spop,zadd,zpopmin,lrange_100,mset",
            timeout=world.size(150, 900),
        )
        before = ask(["DEBUG", "DIGEST"])
        ask(["DEBUG", "RELOAD"])
        results["reloaded in place"] = ask(["DEBUG", "DIGEST"]) == before
        ask(["BGREWRITEAOF"], ["SAVE"])
        ask.close()
    with world.serve("redis-server", settings, ready=connected):
        ask = Client(world.path("socket"))
        results["reloaded by a new server"] = ask(["DEBUG", "DIGEST"]) == before
        ask(["MEMORY", "PURGE"], ["FLUSHALL"])
        load(ask, count // 10)
        results["digest after a flush"] = ask(["DEBUG", "DIGEST"])
        ask.close()
    return results


driver.run(
    name="redis",
    needs=[("redis-server", "redis-server"), ("redis-benchmark", "redis-tools")],
    serves="redis-(server|check-rdb)",
    proof=["redis-server", "--version"],
    produce=produce,
)
