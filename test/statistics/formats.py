#!/usr/bin/env python3
"""What a heap says about itself is JSON, and is Prometheus's text format, and says the same: of a program of known shape.

    formats.py HEAP LIBRARY SHAPED
"""

import json
import os
import re
import subprocess
import sys
import tempfile

NAME = r"[a-zA-Z_][a-zA-Z0-9_]*"
LABEL = rf'{NAME}="(?:[^"\\\n]|\\["\\n])*"'
SAMPLE = re.compile(rf"({NAME})\{{({LABEL}(?:,{LABEL})*)\}} (\d+(?:\.\d+)?)")


def said(library, command, options):
    done = subprocess.run(command, capture_output=True, check=True, timeout=60, stdin=subprocess.DEVNULL,
                          env={**os.environ, "LD_PRELOAD": library, "POLDER_OPTIONS": options})
    return done.stdout or done.stderr


def read_prometheus(text):
    """{(metric, labels): value}. Every metric has its HELP and its TYPE, in front of all of its samples."""
    assert text.endswith("\n")
    samples, metric, types = {}, None, {}
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("# HELP "):
            metric = re.fullmatch(rf"# HELP ({NAME}) (\S.*)", line).group(1)
            assert metric not in types, f"{metric} comes twice"
            types[metric] = re.fullmatch(rf"# TYPE {metric} (counter|gauge)", next(lines)).group(1)
            assert (types[metric] == "counter") == metric.endswith("_total"), metric
            continue
        sample = SAMPLE.fullmatch(line)
        assert sample, f"no sample: {line!r}"
        name, labels, value = sample.groups()
        assert name == metric, f"{name} stands among the samples of {metric}"
        assert (name, labels) not in samples, f"twice: {line!r}"
        samples[name, labels] = value
    return samples


def check_json(told, heap):
    assert told["heap"] == heap and re.fullmatch(r"\d+\.\d+\.\d+", told["version"])
    size = told["bytes"]
    assert size["allocated"] <= size["active"] <= size["resident"] <= size["mapped"] <= size["reserved"]
    assert size["free_not_returned"] == size["cached"] + size["active"] - size["allocated"]
    assert ("classes" in told) == ("labs" in told) == (heap == "polder")
    if heap != "polder":
        return
    classes, labs = told["classes"], told["labs"]
    of_48 = next(c for c in classes if c["block_size"] == 48)
    assert of_48["blocks_allocated"] == 990, of_48
    for c in classes:
        of_spans = c["unallocated_bytes"] + c["blocks_allocated"] * c["block_size"]
        assert of_spans == 65536 * c["spans"]
        assert c["blocks_allocated"] + c["blocks_waiting"] + c["blocks_free"] == c["spans"] * (65536 // c["block_size"])
        assert abs(c["fragmentation"] - c["unallocated_bytes"] / of_spans) <= 0.001
    assert sum(c["blocks_allocated"] * c["block_size"] for c in classes) + size["large"] == size["allocated"]
    assert sum(c["blocks_waiting"] * c["block_size"] for c in classes) == size["waiting"]
    assert sum(c["spans"] for c in classes) == sum(lab["spans"] for lab in labs) == told["counts"]["spans"]
    assert sum(lab["outbox_bytes"] + lab["inbox_bytes"] for lab in labs) == size["waiting"]
    assert sum(lab["remote_frees"] for lab in labs) == told["counts"]["remote_frees"] == 10
    assert told["counts"]["labs"] == 21 and [lab["lab"] for lab in labs] == list(range(1, 22))


def expected_samples(told):
    """What Prometheus is told where JSON is told this."""
    heap = f'heap="{told["heap"]}"'
    grows = ("refills", "remote_frees", "posts")
    for name, value in told["bytes"].items():
        yield f"polder_{name}_bytes", heap, value
    for name, value in told["counts"].items():
        yield f"polder_{name}" + ("_total" if name in grows else ""), heap, value
    for c in told.get("classes", []):
        labels = f'{heap},class="{c.pop("block_size")}"'
        for name, value in c.items():
            yield f"polder_class_{name}" + ("_ratio" if name == "fragmentation" else ""), labels, value
    for lab in told.get("labs", []):
        labels = f'{heap},lab="{lab.pop("lab")}"'
        for name, value in lab.items():
            if name != "thread":  # it is another's each time
                yield f"polder_lab_{name}" + ("_total" if name in grows else ""), labels, value


def check(heap, awkward, text, written, exposed, one_moment):
    """How many facts there are. one_moment: all three were written by one process, so that the figures are the same."""
    assert text.startswith(b"polder: ") and text.endswith(b"\n")
    assert all(line.startswith(b"polder: ") for line in text.splitlines())
    written.decode("ascii")
    told = json.loads(written)
    assert awkward.encode() in told["options"].encode("latin-1"), told["options"]
    check_json(told, heap)
    samples = read_prometheus(exposed.decode("ascii"))
    info = next(key for key in samples if key[0] == "polder_info")
    assert f'heap="{heap}",version="{told["version"]}",options="' in info[1] and samples[info] == "1"
    expected = list(expected_samples(told))
    for name, labels, value in expected:
        found = float(samples[name, labels])
        assert found == value or not one_moment, f"{name}{{{labels}}}: {found}, in JSON {value}"
    assert 1 + len(expected) + len(told.get("labs", [])) == len(samples)
    return len(samples)


def main():
    heap, library, shaped = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        awkward = f'{folder}/a "name"\\with\tall\x01sorts\u00fc'
        options = f"background=0,timeline={awkward}"
        by_call = said(library, [shaped, "0", "1", "2"], options).split(b"end\n")
        assert len(by_call) == 4 and by_call[3] == b""
        facts = check(heap, awkward, *by_call[:3], one_moment=True)
        by_option = [said(library, [shaped], f"{options},stats={word}") for word in ("1", "json", "prometheus")]
        check(heap, awkward, *by_option, one_moment=False)
        print(f"{heap}: {facts} facts, the same in both formats")


main()
