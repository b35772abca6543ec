"""Runs a program with its client and prints one line: how long the part that counts took, and the program's peak memory.

A server's start and end, and a client's own work, would blur the time of the whole command, and a client's memory the peak.
Only what `serve` and `run` start has the heap: this program, which may be the client, is given the heap's settings under other
names and hands them on. The peak is the kernel's for the process and those that it waited for itself (wait4), so clients do not
count. It is at least this program's own size at the start of the other, so a job prepares what is large only when its server runs.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import time

HANDED_ON = "HANDED_ON_"  # so begin the names of what is meant for the program alone: program/described.py
HEAP = {name.removeprefix(HANDED_ON): value for name, value in os.environ.items() if name.startswith(HANDED_ON)}
PLAIN = {name: value for name, value in os.environ.items() if not name.startswith(HANDED_ON)}
PATIENCE = 30


class Failed(Exception):
    pass


class Clocked:
    def __init__(self) -> None:
        self.seconds = 0.0
        self.peak_kb = 0
        self.pid = 0  # of the program, started last
        self.digest = hashlib.sha256()

    def see(self, text: bytes) -> None:
        """Something that must be the same under every heap."""
        self.digest.update(text)

    @contextlib.contextmanager
    def clock(self):
        began = time.monotonic()
        yield
        self.seconds += time.monotonic() - began

    def start(self, command, stdin, stdout, stderr, environment):
        """The program, which has the heap. Its process group is its own: by that memory_sampler.h tells it from its clients."""
        process = subprocess.Popen(command, stdin=stdin, stdout=stdout, stderr=stderr, env={**PLAIN, **HEAP, **(environment or {})},
                                   process_group=0)
        self.pid = process.pid
        return process

    def reap(self, process, who):
        """Waits for the end; its peak counts, and a bad end is a failure."""
        until = time.monotonic() + PATIENCE
        while True:
            pid, status, used = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > until:
                process.kill()
                os.wait4(process.pid, 0)
                process.returncode = -9
                raise Failed(f"{who} does not end")
            time.sleep(0.002)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.peak_kb = max(self.peak_kb, used.ru_maxrss)
        return process.returncode

    @contextlib.contextmanager
    def serve(self, command, ready, environment=None, end=signal.SIGTERM):
        """A server for the time of a with statement. ready is called until it raises no OSError."""
        who = os.path.basename(command[0])
        with open("server.log", "wb") as log:
            server = self.start(command, subprocess.DEVNULL, log, log, environment)
        try:
            until = time.monotonic() + PATIENCE
            while True:
                if os.waitid(os.P_PID, server.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                    raise Failed(f"{who} ended at once: {said()}")
                with contextlib.suppress(OSError):
                    ready()
                    break
                if time.monotonic() > until:
                    raise Failed(f"{who} does not answer: {said()}")
                time.sleep(0.005)
            try:
                yield server
            except OSError as lost:
                raise Failed(f"{who} is lost ({lost}): {said()}") from lost
            os.kill(server.pid, end)
            if status := self.reap(server, who):
                raise Failed(f"{who} ends with {status}: {said()}")
        finally:
            if server.returncode is None:
                server.kill()
                server.wait()

    def run(self, command, stdin=None, environment=None):
        """A program to its end, under the heap and on the clock; its output."""
        with open("output", "wb") as output, self.clock():
            process = self.start(command, stdin or subprocess.DEVNULL, output, subprocess.STDOUT, environment)
            status = self.reap(process, os.path.basename(command[0]))
        with open("output", "rb") as output:
            text = output.read()
        if status:
            raise Failed(f"{os.path.basename(command[0])} ends with {status}: {text.decode(errors='replace').strip()[-200:]}")
        return text


def said():
    """The last words of the server."""
    with open("server.log", errors="replace") as log:
        return " ".join(log.read().split())[-200:] or "it says nothing"


def client(*command):
    """The output of a client, which runs without the heap."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=PLAIN)
    if done.returncode:
        raise Failed(f"{os.path.basename(command[0])} ends with {done.returncode}: {done.stdout.decode(errors='replace').strip()[-200:]}")
    return done.stdout


def connect(path):
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(PATIENCE)
    connection.connect(path)
    return connection


def tell(job):
    """job does the work with a Clocked; here its line is printed."""
    clocked = Clocked()
    try:
        job(clocked)
    except (Failed, OSError) as why:
        print(json.dumps({"ok": False, "why": str(why)}))
        sys.exit(1)
    print(json.dumps({"ok": True, "seconds": clocked.seconds, "peak_rss_kb": clocked.peak_kb, "digest": clocked.digest.hexdigest(),
                      "pid": clocked.pid}))
