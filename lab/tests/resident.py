"""A laboratory that stays: it is loaded once, and each call is a child forked from it. Loading takes longer than most calls.

Nothing runs in the one that stays, which has a single thread: polars and what else begins threads is loaded by the child.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from importlib import import_module
from pathlib import Path

LOADED = ("bench", "catalogue", "compare", "conform", "figure", "mistakes", "peers", "profile", "timeline", "trace")  # that tests call


class Resident:
    def __init__(self, environment: dict[str, str]) -> None:
        self.ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)  # a message is read whole or not at all
        with theirs:
            self.process = subprocess.Popen([sys.executable, __file__, str(theirs.fileno())], pass_fds=[theirs.fileno()], env=environment,
                                            process_group=0)

    def call(self, words: list[str], environment: dict[str, str], folder: Path, stdin: int,
             timeout: float) -> subprocess.CompletedProcess[str]:
        """As subprocess.run with captured text; after a call that took too long there is no other."""
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err, open(os.devnull) as nothing:
            given = nothing.fileno() if stdin == subprocess.DEVNULL else stdin
            self.ours.settimeout(timeout)
            request = json.dumps([words, environment, str(folder)]).encode()
            socket.send_fds(self.ours, [request], [given, out.fileno(), err.fileno()])
            try:
                status = self.ours.recv(16)
            except TimeoutError:
                os.killpg(self.process.pid, signal.SIGKILL)
                raise
            if not status:
                raise ChildProcessError("the laboratory that stays is gone")
            out.seek(0), err.seek(0)
            return subprocess.CompletedProcess(words, int(status), out.read(), err.read())

    def end(self) -> None:
        self.ours.close()
        self.process.wait(10)


def run_in_child(words: list[str], environment: dict[str, str], folder: str, descriptors: list[int]) -> int:
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv[1:] = words
    try:
        from polder_lab.cli import main
        main()
        status = 0
    except SystemExit as exit:
        status = exit.code if isinstance(exit.code, int) else int(exit.code is not None)
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush(), sys.stderr.flush()
    return status


def stay(asked: socket.socket) -> None:
    import_module("polder_lab.cli")
    for command in LOADED:
        import_module(f"polder_lab.command.{command}")
    while True:
        request, descriptors, _, _ = socket.recv_fds(asked, 1 << 20, 3)
        if not request:
            return
        words, environment, folder = json.loads(request)
        child = os.fork()
        if child == 0:
            asked.close()
            os._exit(run_in_child(words, environment, folder, descriptors))
        for descriptor in descriptors:
            os.close(descriptor)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        asked.send(str(status).encode())


if __name__ == "__main__":
    stay(socket.socket(fileno=int(sys.argv[1])))
