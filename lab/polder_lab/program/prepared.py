"""Puts the inputs of each program's job in place and says how to call it."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from polder_lab.program.described import Job

SCRIPTS = Path(__file__).with_name("job")


class Unprepared(Exception):
    """Why a program's inputs cannot be made here."""


def make(command: list[str], folder: Path, *, stdin: bytes = b"", environment: Mapping[str, str] | None = None) -> None:
    """Runs what makes inputs, under no heap."""
    try:
        done = subprocess.run(command, input=stdin, env=environment, cwd=folder, capture_output=True)
    except OSError as why:
        raise Unprepared(str(why)) from why
    if done.returncode:
        lines = (done.stdout + done.stderr).decode(errors="replace").strip().splitlines()
        raise Unprepared(lines[-1].strip() if lines else f"{Path(command[0]).name} ends with {done.returncode}")


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


def clocked(name: str, *words: str) -> list[str]:
    """A job that starts the program itself, in Python, and tells its time: see job/clocked.py."""
    return [str(Path(sys.executable).resolve()), "-S", "-s", str(SCRIPTS / f"{name}.py"), *words]


def redis(executable: str, folder: Path, scale: float) -> Job:
    return Job(clocked("redis", executable, shutil.which("redis-benchmark") or "redis-benchmark", str(scale)))


def memcached(executable: str, folder: Path, scale: float) -> Job:
    return Job(clocked("memcached", executable, str(scale)))


def db_bench(executable: str, folder: Path, scale: float) -> Job:
    return Job(clocked("db_bench", executable, str(scale)))


def postgresql(executable: str, folder: Path, scale: float) -> Job:
    """Its data are made once, under no heap. It will not run as root; as nobody it keeps the right to pass through folders
    that are root's alone, such as this one."""
    data = Path(folder, "data")
    prefix: list[str] = []
    if os.getuid() == 0:
        right = "+dac_override"
        prefix = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--inh-caps", right, "--ambient-caps", right, "--"]
    initdb = [str(Path(executable).with_name("initdb")), "-D", str(data), "-U", "tester", "-A", "trust", "-E", "UTF8", "--locale=C",
              "--no-sync"]
    make([*prefix, *initdb], folder)
    return Job(clocked("postgresql", executable, str(data), str(scale), *prefix))


def xalan(executable: str, folder: Path, scale: float) -> Job:
    document = folder / "orders.xml"
    document.write_text(orders(int(8_000 * scale)))
    return Job([executable, "-in", str(document), "-xsl", script("xsl")])


def orders(count: int) -> str:
    lot = random.Random(3)

    def item() -> str:
        return (f'<item kind="k{int(lot.random() * 40)}" price="{int(lot.random() * 900)}">'
                f"<name>thing {int(lot.random() * 500)}</name>"
                f"<note>{' '.join('word' + str(int(lot.random() * 99)) for _ in range(int(lot.random() * 9)))}</note></item>")

    lines = [f'<order id="{number}" day="{int(lot.random() * 365)}">{"".join(item() for _ in range(1 + int(lot.random() * 7)))}</order>'
             for number in range(count)]
    return "<orders>\n" + "\n".join(lines) + "\n</orders>\n"


def large_compilation(executable: str, folder: Path, scale: float) -> Job:
    source = folder / "large.c"
    source.write_text(large_source(int(250 * scale)))
    return Job([executable, "-O1", "-S", "-o", "-", str(source)])


def large_source(functions: int) -> str:
    """Functions that call those before them, each with its own type, loop and branches."""
    lot = random.Random(4)
    out = ["struct pair { int a; int b; };"]
    for number in range(functions):
        terms = " ".join(f"case {k}: x.a = x.a * {1 + int(lot.random() * 99)} + f.v{k % 5}[i % 8]; "
                         f"x.b ^= x.a >> {1 + int(lot.random() * 9)}; break;" for k in range(6))
        call = f"+ work{int(lot.random() * number)}(x.b % n, x.a)" if number else ""
        fields = " ".join(f"int v{k}[8];" for k in range(5))
        out.append(f"struct frame{number} {{ {fields} struct pair p; }};\n"
                   f"int work{number}(int n, int seed) {{\n  struct frame{number} f = {{{{seed, n}}}};\n  struct pair x = {{n, seed}};\n"
                   f"  for (int i = 0; i < n; ++i) switch ((i + x.a) % 6) {{ {terms} }}\n"
                   f"  f.p = x;\n  return f.p.a + f.p.b * (n > 3 ? 1 : 0) {call if number % 3 else ''};\n}}")
    return "\n".join(out) + "\n"


def ghostscript(executable: str, folder: Path, scale: float) -> Job:
    """Pages with text, curves and dictionaries, painted small: the picture is the output."""
    page = folder / "job.ps"
    page.write_text(Path(script("ps")).read_text().replace("PAGES", str(max(1, int(300 * scale)))))
    return Job([executable, "-q", "-dSAFER", "-dBATCH", "-dNOPAUSE", "-sDEVICE=pgmraw", "-r40", "-o", "-", str(page)])


def z3(executable: str, folder: Path, scale: float) -> Job:
    """Arithmetic, bit vectors, arrays and a pigeonhole, one after the other."""
    problem = folder / "job.smt2"
    problem.write_text(smt(max(1, int(250 * scale))))
    return Job([executable, "-smt2", str(problem)])


def smt(problems: int) -> str:
    lot = random.Random(5)
    out = ["(set-option :smt.random_seed 1)"]
    for number in range(problems):
        names = [f"x{i}" for i in range(14)]
        out.append("(push)")
        out += [f"(declare-const {name} Int)" for name in names]
        for _ in range(22):
            chosen = [names[int(lot.random() * len(names))] for _ in range(3)]
            weights = [1 + int(lot.random() * 9) for _ in range(3)]
            total = " ".join(f"(* {weight} {name})" for weight, name in zip(weights, chosen, strict=True))
            out.append(f"(assert ({'<=' if lot.random() < 0.6 else '>='} (+ {total}) {int(lot.random() * 200)}))")
        out += [f"(declare-const b{i} (_ BitVec 12))" for i in range(4)]
        out.append(f"(assert (= (bvadd (bvmul b0 b1) b2) #x{number * 37 % 4096:03x}))")
        out.append("(assert (bvult b2 b3)) (assert (distinct b0 b1 b2 b3))")
        out.append("(check-sat)\n(pop)")
    holes = 6
    out += ["(push)", *(f"(declare-const p{i}_{j} Bool)" for i in range(holes + 1) for j in range(holes))]
    out += [f"(assert (or {' '.join(f'p{i}_{j}' for j in range(holes))}))" for i in range(holes + 1)]
    out += [f"(assert (not (and p{i}_{j} p{k}_{j})))" for j in range(holes) for i in range(holes + 1) for k in range(i)]
    return "\n".join([*out, "(check-sat)", "(pop)"]) + "\n"


def git(executable: str, folder: Path, scale: float) -> Job:
    """A repository is generated rather than taken: every checkout has another history, and a shallow clone has none."""
    environment = {**os.environ, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "LC_ALL": "C"}
    repository = str(folder / "repository")
    make([executable, "init", "-q", "--bare", repository], folder, environment=environment)
    make([executable, "-C", repository, "fast-import", "--quiet"], folder, stdin=history(int(1200 * scale)), environment=environment)
    return Job([executable, "-C", repository, "log", "-p", "-M", "--stat", "--no-color", "main"])


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
