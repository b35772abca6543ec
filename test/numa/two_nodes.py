#!/usr/bin/env python3
"""Boots a real kernel on an emulated machine with two sockets and two nodes, and runs static programs in it.

    two_nodes.py --init INIT --kernel FOLDER NAME [VARIABLE=VALUE…] PROGRAM [ARGUMENT…] [-- NAME …]…

Each NAME is one run of PROGRAM in the guest (init.cpp). It must end with status 0, or with 1 if NAME ends in `!`: so the
suite shows that what it looks at can be seen to be wrong. FOLDER holds an unpacked kernel package, boot/vmlinuz-*.

The machine: qemu-system-x86_64 without help from the processor (tcg, a thread for each guest processor), 2 sockets of 2,
256 MiB a node, an initial file system made here, and the serial line as its only device.

Exit status: 0 good, 1 bad, 77 skipped, with the reason, where the emulator or the kernel cannot be had.
"""

import argparse
import gzip
import itertools
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile

SKIPPED = 77
TIME_LIMIT = 240  # seconds; it takes ten to twenty on an idle machine
EMULATOR = "qemu-system-x86_64"
MACHINE = [
    "-accel", "tcg,thread=multi", "-machine", "q35", "-cpu", "max", "-smp", "4,sockets=2,cores=2,threads=1", "-m", "512M",
    "-object", "memory-backend-ram,id=near0,size=256M", "-numa", "node,nodeid=0,cpus=0-1,memdev=near0",
    "-object", "memory-backend-ram,id=near1,size=256M", "-numa", "node,nodeid=1,cpus=2-3,memdev=near1",
    "-nodefaults", "-display", "none", "-serial", "stdio", "-no-reboot",
]  # fmt: skip
# A panic ends the machine at once; pages stay where they were first put. Where the emulator has to wait for a processor, ticks of the
# machine's timer are lost, and a kernel that looked whether they come would give up.
KERNEL_LINE = "no_timer_check console=ttyS0 quiet loglevel=3 panic=-1 numa_balancing=disable mitigations=off rdinit=/init"


def skip(reason: str):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def archive(files: dict[str, bytes]) -> bytes:
    """A cpio archive ("newc") of executables, with the console that the kernel opens for the first process."""
    out = bytearray()
    numbers = itertools.count(1)

    def add(name: str, mode: int, content: bytes = b"", device: tuple[int, int] = (0, 0)):
        # inode, mode, user, group, links, time, length, device of the file, device it stands for, length of name, checksum
        fields = [next(numbers), mode, 0, 0, 1, 0, len(content), 0, 0, *device, len(name) + 1, 0]
        out.extend(b"070701" + b"".join(b"%08x" % f for f in fields) + name.encode() + b"\0")
        out.extend(bytes(-len(out) % 4) + content)
        out.extend(bytes(-len(out) % 4))

    add("dev", stat.S_IFDIR | 0o755)
    add("dev/console", stat.S_IFCHR | 0o600, device=(5, 1))
    for name, content in files.items():
        add(name, stat.S_IFREG | 0o755, content)
    add("TRAILER!!!", 0)
    return bytes(out)


def runs_in(words: list[str]) -> list[tuple[str, list[str], pathlib.Path, list[str]]]:
    """NAME, its variables, its program and the arguments, for each group of words between `--`."""
    runs = []
    for last, group in itertools.groupby(words, lambda w: w == "--"):
        if last:
            continue
        name, *rest = group
        variables = list(itertools.takewhile(lambda w: "=" in w, rest))
        program, *arguments = rest[len(variables) :]
        runs.append((name, variables, pathlib.Path(program), arguments))
    return runs


def boot(emulator: str, kernel: pathlib.Path, files: dict[str, bytes]) -> str:
    """What the guest wrote on its console."""
    with tempfile.TemporaryDirectory(prefix="polder-numa-") as folder:
        initial = pathlib.Path(folder, "initial")
        initial.write_bytes(gzip.compress(archive(files), 1))
        command = [emulator, *MACHINE, "-kernel", kernel, "-initrd", initial, "-append", KERNEL_LINE]
        try:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIME_LIMIT, check=False
            )
            console = done.stdout
        except subprocess.TimeoutExpired as late:
            console = (late.stdout or b"") + b"\nthe guest did not end in time\n"
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1bc", "", console.decode(errors="replace").replace("\r", ""))


def main() -> int:
    arguments = argparse.ArgumentParser(description="static programs on a machine with two nodes")
    arguments.add_argument("--init", type=pathlib.Path, required=True)
    arguments.add_argument("--kernel", type=pathlib.Path, required=True, help="folder of an unpacked kernel package")
    arguments.add_argument("runs", nargs=argparse.REMAINDER)
    asked = arguments.parse_args()

    emulator = shutil.which(EMULATOR)
    if emulator is None:
        skip(f"no {EMULATOR}: install qemu-system-x86")
    kernels = sorted(k for k in asked.kernel.glob("boot/vmlinuz-*") if os.access(k, os.R_OK))
    if not kernels:
        skip(f"no kernel in {asked.kernel}/boot: ./polder test numa fetches one where apt-get can")

    runs = runs_in(asked.runs)
    if not runs:
        print("nothing to run")
        return 1
    plan = "".join(
        " ".join([name, *variables, "/" + program.name, *words]) + "\n" for name, variables, program, words in runs
    )
    files = {program.name: program.read_bytes() for _, _, program, _ in runs}
    files |= {"init": asked.init.read_bytes(), "plan": plan.encode()}
    console = boot(emulator, kernels[-1], files)
    print(console)

    ended = dict(re.findall(r"^polder-guest: end (\S+) (\d+)$", console, re.M))
    if "polder-guest: over" not in console.splitlines():
        print("the guest did not come to its end")
        return 1
    bad = 0
    for name, *_ in runs:
        status, wanted = ended.get(name, "none"), "1" if name.endswith("!") else "0"
        bad += status != wanted
        print(f"{name}: status {status}" + ("" if status == wanted else f", not {wanted}"))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
