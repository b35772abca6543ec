"""memcached.py SERVER SCALE: four connections set, delete and get at once; every answer is seen."""

import hashlib
import os
import sys
from concurrent.futures import ThreadPoolExecutor

from clocked import connect, tell

SERVER, SCALE = sys.argv[1], float(sys.argv[2])
SOCKET = "memcached.socket"
CLIENTS, BATCH, TURNS = 4, 250, 3


def value(key, turn):
    return b"%d.%d," % (key, turn) * (1 + (key * 13 + turn) % 300)


def script(number, keys):
    """What a client sends, and how each batch's answer ends."""
    mine = range(number, keys, CLIENTS)
    for turn in range(TURNS):
        for at in range(0, len(mine), BATCH):
            part = mine[at : at + BATCH]
            sets = b"".join(b"set k%d 0 0 %d\r\n%s\r\n" % (key, len(text), text) for key in part for text in [value(key, turn)])
            yield sets, b"STORED\r\n" * len(part)
            gone = [key for key in part if (key + turn) % 5 == 0]
            yield b"".join(b"delete k%d\r\n" % key for key in gone), b"DELETED\r\n" * len(gone)
            yield b"get " + b" ".join(b"k%d" % key for key in part) + b"\r\n", b"END\r\n"


def converse(lines):
    seen = hashlib.sha256()
    connection = connect(SOCKET)
    for sent, end in lines:
        connection.sendall(sent)
        answer = bytearray()
        while not (answer.endswith(end) if end == b"END\r\n" else len(answer) >= len(end)):
            received = connection.recv(1 << 20)
            if not received:
                raise ConnectionError("closed")
            answer += received
        seen.update(answer)
    connection.close()
    return seen.digest()


def job(clocked):
    account = ["-u", "root"] if os.getuid() == 0 else []
    with clocked.serve([SERVER, "-s", SOCKET, "-m", "1024", "-t", "4", *account], lambda: connect(SOCKET).close()):
        scripts = [list(script(number, int(48_000 * SCALE))) for number in range(CLIENTS)]
        with ThreadPoolExecutor(CLIENTS) as pool, clocked.clock():
            seen = list(pool.map(converse, scripts))
    for digest in seen:
        clocked.see(digest)


tell(job)
