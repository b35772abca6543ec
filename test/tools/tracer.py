"""perf's probes, as root, in a mount namespace of its own that has tracefs."""

import os
import re
import shlex

import pytest

from conftest import need, run

SCRIPT = """
[ -e /sys/kernel/tracing/uprobe_events ] || mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
[ -e /sys/kernel/tracing/uprobe_events ] || exit 76
grep -q GROUP: /sys/kernel/tracing/uprobe_events && exit 75
trap 'perf probe -q --del "GROUP:*" 2>/dev/null' EXIT
"""


def perf(group, home, *commands):
    """Runs commands of perf one after the other and gives what they said; the last deletes the probes of the group."""
    need("perf")
    if os.geteuid() != 0:
        pytest.skip("only root may set probes")
    lines = SCRIPT.replace("GROUP", group) + "".join(f"{shlex.join(map(str, words))} || exit 74\n" for words in commands)
    said = run("unshare", "--mount", "sh", "-c", lines, HOME=str(home), LC_ALL="C")
    if said.returncode == 76:
        pytest.skip("tracefs cannot be mounted here, so the kernel takes no probes")
    if said.returncode == 75:
        pytest.skip(f"somebody else has probes of the group {group}")
    assert said.returncode == 0, said.stdout + said.stderr
    return said.stdout + said.stderr


def counts(group, said):
    """Events by name, of perf stat."""
    found = re.findall(rf"^ *([\d,]+) +{group}:(\S+)", said, re.MULTILINE)
    return {name: int(count.replace(",", "")) for count, name in found}
