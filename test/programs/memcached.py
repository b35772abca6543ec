"""memcached: four clients set, get, change and delete many keys, and check every value that comes back."""

import hashlib
import os
import threading

import driver


def value(key, turn):
    seed = hashlib.md5(f"{key}:{turn}".encode()).hexdigest().encode()
    return seed * (1 + (key * 13 + turn) % 60)


class Client(threading.Thread):
    def __init__(self, path, number, keys, turns):
        super().__init__(daemon=True)
        self.path, self.number, self.keys, self.turns = path, number, keys, turns
        self.hits, self.error = 0, None

    def run(self):
        try:
            self.connection = driver.unix_connection(self.path)
            self.answers = self.connection.makefile("rb")
            for turn in range(self.turns):
                self.one_turn(turn)
            self.connection.close()
        except Exception as error:  # reported by the main thread
            self.error = error

    def one_turn(self, turn):
        mine = range(self.number, self.keys, 4)
        for start in range(0, len(mine), 200):
            part = mine[start : start + 200]
            self.connection.sendall(b"".join(b"set k%d %d 0 %d\r\n%s\r\n" % (k, k % 7, len(v), v) for k in part for v in [value(k, turn)]))
            for _ in part:
                if (line := self.answers.readline()) != b"STORED\r\n":
                    raise driver.Failed(f"set answers {line!r}")
            gone = [k for k in part if (k + turn) % 5 == 0]
            self.connection.sendall(b"".join(b"delete k%d\r\n" % k for k in gone))
            for _ in gone:
                if (line := self.answers.readline()) != b"DELETED\r\n":
                    raise driver.Failed(f"delete answers {line!r}")
            self.connection.sendall(b"get " + b" ".join(b"k%d" % k for k in part) + b"\r\n")
            while (line := self.answers.readline()) != b"END\r\n":
                word, key, flags, length = line.split()
                k = int(key[1:])
                data = self.answers.read(int(length) + 2)[:-2]
                if word != b"VALUE" or int(flags) != k % 7 or data != value(k, turn):
                    raise driver.Failed(f"k{k} comes back wrong: {data[:60]!r}")
                self.hits += 1


def produce(world):
    path = world.path("socket")
    account = ["-u", "root"] if os.getuid() == 0 else []
    server = ["memcached", "-s", path, "-m", 1024, "-t", 4, "-o", "hashpower=13", *account]
    with world.serve(*server, ready=lambda: driver.unix_connection(path).close()):
        clients = [Client(path, number, world.size(60_000, 400_000), world.size(3, 10)) for number in range(4)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        for client in clients:
            if client.error:
                raise client.error
        statistics = driver.unix_connection(path)
        statistics.sendall(b"stats\r\nquit\r\n")
        lines = dict(line.split()[1:3] for line in statistics.makefile("r") if line.startswith("STAT") and len(line.split()) == 3)
    names = "cmd_get cmd_set get_hits delete_hits curr_items bytes evictions".split()
    return {"hits": sum(client.hits for client in clients), **{name: lines[name] for name in names}}


driver.run(name="memcached", needs=[("memcached", "memcached")], serves="memcached", proof=["memcached", "-V"], produce=produce)
