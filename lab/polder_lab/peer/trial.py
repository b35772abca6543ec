"""Does a rival work at all? It must serve malloc, proved by the dynamic linker (proof.py), and come through two small jobs."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from polder_lab.heap import Heap
from polder_lab.launch import Launcher, build_launcher
from polder_lab.place import Place
from polder_lab.proof import witness

PYTHON_JOB = """
import json, threading
def work():
    for _ in range(60):
        if json.loads(json.dumps([{"name": [str(i)] * 20} for i in range(40)]))[7]["name"][0] != "7": raise SystemExit(1)
threads = [threading.Thread(target=work) for _ in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
print("done")
"""


def jobs(place: Place) -> Iterable[tuple[str, list[str]]]:
    """Python's interpreter with all of its objects from malloc, and where it is built a workload with remote frees."""
    yield "python3", [str(Path(sys.executable).resolve()), "-S", "-s", "-c", PYTHON_JOB]
    if place.bench.exists():
        yield "polder-bench mixed", [str(place.bench), "run", "mixed", "--threads", "4", "--preset", "smoke"]


def attempt(heap: Heap, place: Place, limit: float = 60) -> str:
    """What happened that should not; "" when it serves and works."""
    with tempfile.TemporaryDirectory(prefix="polder-peer-") as name:
        launcher = Launcher(build_launcher(place.own), Path(name))
        for job, command in jobs(place):
            extra = {**heap.environment, "PYTHONMALLOC": "malloc"}
            with witness(launcher.scratch / "witness") as seen:
                run = launcher.run(command, extra={**extra, **seen.extra}, limit=limit)
                problem = run.trouble or seen.objection(heap, run.pid)
            if problem:
                return f"{job}: {problem}"
    return ""


class Notebook:
    """What the trials found, by library: another build of the same rival has to be tried again."""

    def __init__(self, place: Place) -> None:
        self.file = place.peers / "trials.json"

    def read(self) -> dict[str, str]:
        try:
            return {str(k): str(v) for k, v in json.loads(self.file.read_text()).items()}
        except (OSError, ValueError, AttributeError):
            return {}

    def write(self, heap: Heap, found: str) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(json.dumps({**self.read(), key(heap): found}, indent=1) + "\n")

    def of(self, heap: Heap) -> str | None:
        """None: not tried."""
        return self.read().get(key(heap))


def key(heap: Heap) -> str:
    return f"{heap.name} {heap.version} {heap.library}"
