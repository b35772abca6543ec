"""docs/how-to/tools.md has no command that no test runs."""

import re
from pathlib import Path

import page


def test_every_command_is_run_by_a_test():
    run = [first for file in Path(__file__).parent.glob("*_test.py") for first in
           re.findall(r'"((?:\./polder|cmake|c\+\+|perf|readelf|gdb) [^"]*)"', file.read_text())]
    lines = page.commands()
    assert len(lines) > 8
    assert [line for line in lines if not any(line.startswith(first) for first in run)] == []
