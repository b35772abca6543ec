"""The commands. Tables go to standard output, everything else to standard error.

Exit status: 0 all well · 1 a run crashed, hung or printed something else · 2 wrong use · 130 interrupted.
"""

from __future__ import annotations

import errno
import io
import os
import signal
import sys

import click

from polder_lab.command.shared import Commands, say
from polder_lab.complaint import Complaint

COMMANDS = {
    "compare": "compare:compare",
    "bench": "bench:bench",
    "conform": "conform:conform",
    "figure": "figure:figure",
    "list": "catalogue:listing",
    "explain": "catalogue:explain",
    "mistakes": "mistakes:mistakes",
    "peers": "peers:peers",
    "profile": "profile:profile",
    "trace": "trace:trace",
    "timeline": "timeline:timeline",
}


@click.group(cls=Commands, modules=COMMANDS)
def app() -> None:
    """Polder's laboratory."""


def main(arguments: list[str] | None = None) -> None:
    for number in (signal.SIGTERM, signal.SIGHUP):  # somebody's time limit is an interruption too, and so is a terminal that is closed
        if signal.getsignal(number) != signal.SIG_IGN:  # nohup
            signal.signal(number, signal.default_int_handler)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # it is closed; the next file that is opened would be it
            stand_in = open(os.devnull, mode, encoding="utf-8")  # noqa: SIM115
            os.set_inheritable(stand_in.fileno(), True)
            setattr(sys, name, stand_in)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # an encoding that was asked for may lack × and –
    try:
        try:
            app(arguments, prog_name="./polder")
        finally:
            sys.stdout.flush()
    except Complaint as complaint:
        say(f"polder: {complaint}", "red")
        sys.exit(2)
    except OSError as why:  # a full disk, say, or a folder that is another's
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what could not be written is not tried once more at the end
        if why.errno == errno.EPIPE:
            sys.exit(1)
        say(f"polder: {f'{why.filename}: ' if why.filename else ''}{why.strerror or why}", "red")
        sys.exit(2)


if __name__ == "__main__":
    main()
