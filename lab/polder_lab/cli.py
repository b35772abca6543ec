"""The commands. Tables go to standard output, everything else to standard error.

Exit status: 0 all well · 1 a run crashed, hung or printed something else · 2 wrong use · 130 interrupted.
"""

from __future__ import annotations

import sys

import click

from polder_lab.command.bench import bench
from polder_lab.command.catalogue import explain, listing
from polder_lab.command.compare import compare
from polder_lab.command.conform import conform
from polder_lab.command.figure import figure
from polder_lab.command.peers import peers
from polder_lab.command.shared import Commands, say
from polder_lab.command.trace import trace
from polder_lab.complaint import Complaint


@click.group(cls=Commands)
def app() -> None:
    """Polder's laboratory."""


for command in (compare, bench, conform, figure, listing, explain, peers, trace):
    app.add_command(command)


def main(arguments: list[str] | None = None) -> None:
    try:
        app(arguments, prog_name="./polder")
    except Complaint as complaint:
        say(f"polder: {complaint}", "red")
        sys.exit(2)


if __name__ == "__main__":
    main()
