# Objects of many sizes that live and die: words counted, records built, serialised, read back and sorted.
import hashlib
import json
import re
import sys

scale = float(sys.argv[1])
state = 1


def number(limit):
    global state
    state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
    return (state >> 33) % limit


words = ["".join(chr(97 + number(26)) for _ in range(2 + number(9))) for _ in range(4000)]
records = []
for i in range(int(20000 * scale)):
    records.append({"id": i, "name": words[number(4000)], "tags": [words[number(4000)] for _ in range(number(6))],
                    "text": " ".join(words[number(4000)] for _ in range(number(12)))})
    if number(4) == 0:
        records[number(len(records))]["text"] *= 2
text = json.dumps(records)
again = json.loads(text)
counts = {}
for word in re.findall(r"[a-z]+", text):
    counts[word] = counts.get(word, 0) + 1
again.sort(key=lambda r: (r["name"], r["id"]))
digest = hashlib.sha256(repr(sorted(counts.items())).encode() + json.dumps(again[:5000]).encode())
print(len(text), len(counts), digest.hexdigest())
