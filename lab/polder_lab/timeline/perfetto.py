"""A recording as Chrome's trace events (JSON), which ui.perfetto.dev, chrome://tracing and speedscope open."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from polder_lab.complaint import Complaint
from polder_lab.timeline.recording import Recording
from polder_lab.timeline.words import meaning

LINES = 20_000  # written at a time


def write(recording: Recording, file: Path) -> int:
    """All events, whatever the plot leaves out; how many."""
    written, pending = 0, ['{"displayTimeUnit":"ns","traceEvents":[\n']
    try:
        with file.open("w", encoding="utf-8") as to:
            for line in lines(recording):
                pending.append(line if written == 0 else ",\n" + line)
                written += 1
                if len(pending) == LINES:
                    to.write("".join(pending))
                    pending.clear()
            to.write("".join(pending) + "\n]}\n")
    except OSError as why:
        raise Complaint(f"cannot write {file}: {why.strerror}") from why
    return len(recording)


def lines(recording: Recording) -> Iterator[str]:
    for source in recording.sources:
        yield json.dumps({"ph": "M", "name": "process_name", "pid": source.pid, "tid": 0, "args": {"name": source.command}})
    for thread in recording.threads:
        yield json.dumps({"ph": "M", "name": "thread_name", "pid": thread.pid, "tid": thread.tid, "args": {"name": thread.name}})
    where = [f'"pid":{thread.pid},"tid":{thread.tid}' for thread in recording.threads]
    heads, forms = [], [kind.form for kind in recording.kinds]
    for kind in recording.kinds:
        label, count = meaning(kind.name)
        name = json.dumps(kind.name)
        heads.append((name, json.dumps(label or "label"), json.dumps(count or "count")))
    columns = (column.tolist() for column in recording.columns)
    for begin, end, count, label, row, kind_at in zip(*columns, strict=True):
        name, label_name, count_name = heads[kind_at]
        at = f'"ts":{begin * 1e6:.3f},{where[row]}'
        form = forms[kind_at]
        if form == "interval":
            yield (f'{{"ph":"X","name":{name},{at},"dur":{(end - begin) * 1e6:.3f},"args":{{{label_name}:{label},{count_name}:{count}}}}}')
        elif form == "point":
            yield f'{{"ph":"i","s":"t","name":{name},{at},"args":{{{label_name}:{label},{count_name}:{count}}}}}'
        else:  # a counter is a process's: the thread is in its name
            own = json.dumps(f"{recording.kinds[kind_at].name} {recording.threads[row].tid}")
            yield f'{{"ph":"C","name":{own},{at},"args":{{{count_name}:{count}}}}}'
