"""polder bench: the laboratory."""

from __future__ import annotations

import click

from polder_lab.command.report import report
from polder_lab.command.shared import Commands


@click.group("bench", cls=Commands)
def bench() -> None:
    """The laboratory: workloads and programs under many heaps, and its report."""


bench.add_command(report)
