"""docs/how-to/tools.md: its commands, and its table of probes."""

import re
import shlex

from conftest import BUILD, ROOT, library

TEXT = (ROOT / "docs/how-to/tools.md").read_text()


def commands():
    """Every line of every block of shell commands."""
    return [line for block in re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL) for line in block.splitlines() if line]


def command(first, **words):
    """The words of the one command that begins like this: with these for CMD, PID and the like, and what was built for the test."""
    found = [line for line in commands() if line.startswith(first)]
    assert len(found) == 1, f"{first}: {len(found)} commands in docs/how-to/tools.md"
    line = re.sub(r"(\$PWD/)?build/release", lambda _: str(BUILD), found[0])
    for old, new in words.items():
        assert old in line, f"'{old}' is not in: {line}"
        line = line.replace(old, str(new))
    launch = BUILD / "bin/polder-launch"
    line = re.sub(r"\./polder run --variant ([a-z]+) --", lambda found: f"{launch} {library(found[1])}", line)
    line = line.replace("./polder run --", f"{launch} {library()}")
    return [re.sub("^(include|tools/gdb/)", rf"{ROOT}/\1", word) for word in shlex.split(line)]


def probes():
    """Name and number of arguments of each probe in the table."""
    table = TEXT.split("| probe | arguments |", 1)[1].split("\n\n", 1)[0]
    rows = [line.split("|")[1:3] for line in table.splitlines()[2:]]
    return {name.strip(): len(arguments.split(",")) for name, arguments in rows}
