"""Puts the inputs of each program's job in place and says how to call it."""

from __future__ import annotations

import json
import os
import random
import subprocess
from pathlib import Path

from polder_lab.program.described import Job

SCRIPTS = Path(__file__).with_name("job")


def script(suffix: str) -> str:
    return str(SCRIPTS / f"job.{suffix}")


def python(executable: str, folder: Path, scale: float) -> Job:
    return Job([executable, "-S", "-s", script("py"), str(scale)])


def perl(executable: str, folder: Path, scale: float) -> Job:
    return Job([executable, script("pl"), str(scale)])


def lua(executable: str, folder: Path, scale: float) -> Job:
    return Job([executable, script("lua"), str(scale)])


def ruby(executable: str, folder: Path, scale: float) -> Job:
    return Job([executable, "--disable-gems", script("rb"), str(scale)])


def node(executable: str, folder: Path, scale: float) -> Job:
    return Job([executable, script("js"), str(scale)])


def compiler(executable: str, folder: Path, scale: float) -> Job:
    return Job([executable, "-std=c++17", "-O0", "-S", "-o", "-", script("cpp")])


def sqlite(executable: str, folder: Path, scale: float) -> Job:
    statements = folder / "job.sql"
    statements.write_text(Path(script("sql")).read_text().replace("i < ROWS", f"i < {int(250_000 * scale)}"))
    return Job([executable, "-batch", "-init", "/dev/null", ":memory:"], stdin=str(statements))


def jq(executable: str, folder: Path, scale: float) -> Job:
    lot = random.Random(1)
    words = ["".join(chr(97 + int(lot.random() * 26)) for _ in range(3 + int(lot.random() * 8))) for _ in range(2000)]

    def word() -> str:
        return words[int(lot.random() * 2000)]

    records = folder / "records.json"
    records.write_text(json.dumps([{"name": word(), "price": int(lot.random() * 500), "count": int(lot.random() * 20),
                                    "tags": [word() for _ in range(int(lot.random() * 6))]} for _ in range(int(25_000 * scale))]))
    return Job([executable, "-f", script("jq"), str(records)])


def git(executable: str, folder: Path, scale: float) -> Job:
    """A repository is generated rather than taken: every checkout has another history, and a shallow clone has none."""
    environment = {**os.environ, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "LC_ALL": "C"}
    repository = folder / "repository"
    subprocess.run([executable, "init", "-q", "--bare", repository], env=environment, check=True, capture_output=True)
    subprocess.run([executable, "-C", repository, "fast-import", "--quiet"], input=history(int(1200 * scale)),
                   env=environment, check=True, capture_output=True)
    return Job([executable, "-C", str(repository), "log", "-p", "-M", "--stat", "--no-color", "main"])


def history(commits: int) -> bytes:
    """A fast-import stream: forty files of two hundred lines, edited and renamed."""
    lot = random.Random(2)
    files = {f"file{n}.txt": [f"line {i} of {n}" for i in range(200)] for n in range(40)}
    out: list[str] = []
    for number in range(commits):
        message = f"Commit {number}"
        out += ["commit refs/heads/main", f"committer A <a@example.org> {1_600_000_000 + number} +0000",
                f"data {len(message)}", message]
        for name in [list(files)[int(lot.random() * len(files))] for _ in range(4)] if number else list(files):
            lines = files[name]
            for _ in range(8 if number else 0):
                lines[int(lot.random() * len(lines))] = f"changed in {number} to {lot.random():.12f}"
            text = "\n".join(lines) + "\n"
            out += [f"M 100644 inline {name}", f"data {len(text)}", text]
        if number % 20 == 19:
            old = list(files)[int(lot.random() * len(files))]
            new = f"moved{number}.txt"
            files[new] = files.pop(old)
            out += [f"R {old} {new}"]
        out.append("")
    return "\n".join(out).encode()
