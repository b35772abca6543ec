#!/usr/bin/env python3
"""Weakens one memory order at a time in the protocol files and says which models notice.

    mutants.py [--only NAME] [--compiler g++] [--jobs 2]

Every order stronger than relaxed, wherever it stands in a protocol file, becomes relaxed; a few other lines are broken on
purpose (BREAKS). A mutant dies when a model of that file fails. One that survives is printed and makes the exit status 1,
unless SURVIVES says why it must. Takes minutes: run by hand, after any change to a protocol file.
"""

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"

# protocol file -> the models that must notice
SUBJECTS = {
    "polder/sync/index_stack.hpp": ["polder/sync/index_stack_model.cpp"],
    "polder/sync/inbox.hpp": ["polder/sync/inbox_model.cpp"],
    "polder/sync/run_bitmap.hpp": ["polder/sync/run_bitmap_model.cpp"],
    "polder/sync/lab_state.hpp": ["polder/sync/lab_state_model.cpp"],
    "polder/sync/owned_lock.hpp": ["polder/sync/owned_lock_model.cpp"],
    "polder/mem/span_state_model.cpp": ["polder/mem/span_state_model.cpp"],
    "polder/mem/anchor.hpp": ["polder/mem/anchor_model.cpp"],
    "polder/ds/tree/marked_list.hpp": ["polder/ds/tree/marked_list_model.cpp"],
    "polder/ds/queue/crq.hpp": ["polder/ds/queue/crq_model.cpp"],
    "polder/ds/queue/segment_list.hpp": ["polder/ds/queue/segment_list_model.cpp"],
    "polder/ds/stack/segment_stack.hpp": ["polder/ds/stack/segment_stack_model.cpp"],
    "polder/ds/parts/k_segment.hpp": ["polder/ds/stack/segment_stack_model.cpp", "polder/ds/queue/segment_list_model.cpp"],
    "polder/ds/parts/slot.hpp": ["polder/ds/stack/segment_stack_model.cpp", "polder/ds/queue/segment_list_model.cpp"],
    "polder/heap/lrmalloc/partial_list.hpp": ["polder/heap/lrmalloc/fill_and_flush_model.cpp"],
    "polder/heap/scalloc/span_life.hpp": ["polder/heap/scalloc/span_life_model.cpp"],
    "polder/heap/michael/superblock_heap.hpp": ["polder/heap/michael/superblock_heap_model.cpp"],
    "polder/heap/michael/descriptor_stack.hpp": ["polder/heap/michael/descriptor_stack_model.cpp"],
    "polder/heap/michael/partial_queue.hpp": ["polder/heap/michael/partial_queue_model.cpp"],
    "polder/heap/michael/partial_stack.hpp": ["polder/heap/michael/partial_stack_model.cpp"],
    "polder/smr/epoch/epoch_clock.hpp": ["polder/smr/epoch/epoch_clock_model.cpp", "polder/smr/seat_gate_model.cpp"],
    "polder/smr/epoch/token_ring.hpp": ["polder/smr/epoch/token_ring_model.cpp"],
    "polder/smr/seat_gate.hpp": ["polder/smr/seat_gate_model.cpp"],
    "polder/smr/hazard/hazard_slot.hpp": ["polder/smr/hazard/hazard_slot_model.cpp"],
    "polder/smr/era/era_clock.hpp": ["polder/smr/era/era_clock_model.cpp"],
    "polder/smr/era/era_request.hpp": ["polder/smr/era/era_request_model.cpp"],
    "polder/smr/neutral/read_phase.hpp": ["polder/smr/neutral/read_phase_model.cpp"],
    "polder/smr/neutral/rounds.hpp": ["polder/smr/neutral/read_phase_model.cpp"],
    "polder/smr/hazard/hazard_slot_model.cpp": ["polder/smr/hazard/hazard_slot_model.cpp"],
    "polder/smr/era/era_clock_model.cpp": ["polder/smr/era/era_clock_model.cpp"],
}

# (protocol file, what it breaks, text, replacement)
BREAKS = [
    ("polder/smr/epoch/epoch_clock.hpp", "freed an epoch too early", "lag = 3", "lag = 2"),
    ("polder/smr/epoch/epoch_clock.hpp", "no light fence", "      fences.light();", "      "),
    ("polder/smr/epoch/epoch_clock.hpp", "no heavy fence", "if (!fences.heavy()) return false;", ""),
    ("polder/smr/epoch/epoch_clock.hpp", "announces an epoch long gone", "if (again == now) [[likely]]", "if (true)"),
    ("polder/smr/epoch/token_ring.hpp", "no light fence", "      fences.light();", "      "),
    ("polder/smr/epoch/token_ring.hpp", "no heavy fence", "if (!fences.heavy()) break;", ""),
    ("polder/smr/epoch/token_ring.hpp", "an old fence serves for ever", "fenced = pass(seen);", "pass(seen);"),
    ("polder/smr/hazard/hazard_slot.hpp", "no light fence", "      fences.light();", "      "),
    ("polder/smr/hazard/hazard_slot.hpp", "no second look at the source", "if (again == seen) [[likely]]", "if (true)"),
    ("polder/smr/hazard/hazard_slot_model.cpp", "no heavy fence", "if (old == 0 || !fences.heavy()) return;", "if (old == 0) return;"),
    ("polder/smr/era/era_clock.hpp", "no light fence in a slot", "      publish(now);\n      fences.light();", "      publish(now);"),
    ("polder/smr/era/era_clock.hpp", "no light fence at entering", "    fences.light();\n    return now;", "    return now;"),
    ("polder/smr/era/era_clock.hpp", "no light fence in an interval", "      fences.light();\n      to = now;", "      to = now;"),
    ("polder/smr/era/era_clock.hpp", "no second look at the source", "      mine = now;", "      return true;"),
    ("polder/smr/era/era_clock.hpp", "the interval never grows", "      to_.store(now, order::relaxed);\n      fences", "      fences"),
    ("polder/smr/era/era_clock_model.cpp", "no heavy fence", "    if (!fences.heavy()) return;\n    const era retired = clock.now();\n    bool", "    const era retired = clock.now();\n    bool"),
    ("polder/smr/era/era_clock_model.cpp", "stamped before the fence", "    if (!fences.heavy()) return;\n    const era retired = clock.now();\n    bool", "    const era retired = clock.now();\n    if (!fences.heavy()) return;\n    bool"),
    ("polder/smr/neutral/read_phase.hpp", "begun anew in the same phase", "turn(2);", "turn(0);"),
    ("polder/smr/neutral/read_phase.hpp", "every phase is taken for over", "return (now & 1) == 0 || asked_.load(order::relaxed) < now;", "return true;"),
    ("polder/smr/neutral/read_phase_model.cpp", "no light fence", "      fences.light();", "      "),
    ("polder/smr/neutral/read_phase_model.cpp", "no heavy fence", "    if (!fences.heavy()) return false;\n", ""),
    ("polder/smr/neutral/rounds.hpp", "a round that began before serves", "over_.load(order::acquire) > mark", "over_.load(order::acquire) >= mark"),
    ("polder/smr/seat_gate.hpp", "the owner does not look", "state_.load(order::acquire) == seat_state::owned", "true"),
    ("polder/sync/index_stack.hpp", "pop does not count", "head(next, now.tag() + 1)", "head(next, now.tag())"),
    ("polder/sync/index_stack.hpp", "take_all does not count", "head(none, now.tag() + 1)", "head(none, now.tag())"),
    ("polder/sync/run_bitmap.hpp", "try_take_at overwrites", "while ((now & run) == 0) {", "while (true) {"),
    ("polder/sync/lab_state.hpp", "runs before it is made", "lab_state::running, order::acq_rel)", "lab_state::running, order::acquire)"),
    ("polder/sync/lab_state.hpp", "no heavy fence", "const bool fenced = heavy_fence();", "const bool fenced = true;"),
    ("polder/sync/lab_state.hpp", "no light fence", "    signal_fence();", "    "),
    ("polder/sync/lab_state.hpp", "claims without a look at active", "fenced && active_", "fenced || active_"),
    ("polder/sync/lab_state.hpp", "key not closed", "    key_.store(no_key, order::relaxed);\n", ""),
    ("polder/sync/lab_state.hpp", "limit not closed", "    limit_.store(0, order::relaxed);\n", ""),
    ("polder/sync/lab_state.hpp", "leaver does not look again", "if (!pending() || !try_drain()) return;", "return;"),
    ("polder/sync/lab_state.hpp", "poster does not look", "    if (!try_drain()) return;\n    drain();\n    settle(pending, drain);", "    (void)drain, (void)pending;"),
    ("polder/sync/lab_state.hpp", "claim ends before it is opened",
     "    open();  // before the CAS: after it, the next claimer may have closed it\n    return step(lab_state::claimed, lab_state::running, order::release, order::acquire);",
     "    const bool mine = step(lab_state::claimed, lab_state::running, order::release, order::acquire);\n    open();\n    return mine;"),
    ("polder/sync/lab_state.hpp", "gives way before it is out",
     "    exit();  // before the CAS: after it, `active` belongs to the LAB's next owner\n    return step(lab_state::claimed, lab_state::abandoned, order::release,\n                order::acquire);",
     "    const bool gone = step(lab_state::claimed, lab_state::abandoned, order::release, order::acquire);\n    exit();\n    return gone;"),
]

BREAKS += [
    ("polder/sync/owned_lock.hpp", "unlock wakes nobody", "if ((was & waited_for) != 0) wake();", "(void)wake, (void)was;"),
    ("polder/sync/owned_lock.hpp", "sleeps without a mark", "} else if (word_.cas(seen, seen | waited_for, order::relaxed, order::relaxed)) {\n        sleep(seen | waited_for);",
     "} else {\n        sleep(seen);"),
    ("polder/sync/owned_lock.hpp", "forgets the others that wait", "me | waited_for, order::acquire", "me, order::acquire"),
]

REQUEST = "polder/smr/era/era_request.hpp"
BREAKS += [
    (REQUEST, "every request has the same number", "(state_.load(order::relaxed) >> cell_bits) + 1", "1"),
    (REQUEST, "no light fence before the asker reads again", "      slot.publish(now);\n      fences.light();", "      slot.publish(now);"),
    (REQUEST, "no light fence before the helper reads", "      aid.seen.publish(now);\n      fences.light();", "      aid.seen.publish(now);"),
    (REQUEST, "the helper publishes nothing", "      aid.seen.publish(now);\n", ""),
    (REQUEST, "the helper does not look at the clock again", "if (clock.now() == now) {", "if (true) {"),
    (REQUEST, "over before the slot has it", "        slot.publish(a.lived.load(order::relaxed));\n", "        over();\n        slot.publish(a.lived.load(order::relaxed));\n"),
    (REQUEST, "what the source lies in is not published", "    aid.source.cover(from, to);\n", ""),
    (REQUEST, "no fence after the span", "    fence(order::seq_cst);  // sync: source-covered: store of the span, load of the request; see above\n", ""),
    (REQUEST, "reads though the request may be over", "still = state_.load(order::relaxed) == request; still;", "still = true; still;"),
    (REQUEST, "answers by a store", "state_.cas(expected, request - asked + first_answer + n, order::release, order::relaxed);", "(void)expected, state_.store(request - asked + first_answer + n, order::release);"),
    (REQUEST, "no look at answers", "return is_answer(state) ? at(cell(state)).lived.load(order::acquire) : no_era;", "return (void)at, (void)state, no_era;"),
    (REQUEST, "slots before answers",
     """    one(m->seat.request.lived([m](unsigned n) -> const era_request::answer& { return m->seat.answers.at(n); }));
  for (const auto* m = members.first(); m != nullptr; m = m->next)
    m->seat.each([&](const era_slot& s) { one(s.read()); });
""",
     """    m->seat.each([&](const era_slot& s) { one(s.read()); });
  for (const auto* m = members.first(); m != nullptr; m = m->next)
    one(m->seat.request.lived([m](unsigned n) -> const era_request::answer& { return m->seat.answers.at(n); }));
"""),
    (REQUEST, "answers before who helps",
     """  for (const auto* m = members.first(); m != nullptr; m = m->next) one(m->seat.aid.seen.read());
  for (const auto* m = members.first(); m != nullptr; m = m->next)
    one(m->seat.request.lived([m](unsigned n) -> const era_request::answer& { return m->seat.answers.at(n); }));
""",
     """  for (const auto* m = members.first(); m != nullptr; m = m->next)
    one(m->seat.request.lived([m](unsigned n) -> const era_request::answer& { return m->seat.answers.at(n); }));
  for (const auto* m = members.first(); m != nullptr; m = m->next) one(m->seat.aid.seen.read());
"""),
    (REQUEST, "no fence before the spans", "  fence(order::seq_cst);  // sync: source-covered: load of the slots, load of the spans; see above\n", ""),
    (REQUEST, "spans before slots",
     """  for (const auto* m = members.first(); m != nullptr; m = m->next)
    m->seat.each([&](const era_slot& s) { one(s.read()); });
""",
     """  for (const auto* m = members.first(); m != nullptr; m = m->next) {
    if (const era from = m->seat.aid.source.from(); from != no_era) f(from, m->seat.aid.source.to());
  }
  for (const auto* m = members.first(); m != nullptr; m = m->next)
    m->seat.each([&](const era_slot& s) { one(s.read()); });
  if (true) return;
"""),
]

LIST = "polder/ds/tree/marked_list.hpp"
BREAKS += [
    (LIST, "a removal does not mark", "p.after.with(mark), order::acq_rel", "p.after, order::acq_rel"),
    (LIST, "passes a marked node", "if (!pass(p)) break;", ""),
    (LIST, "retires what another unlinked", "      return false;  // sync: list-link", "      {}"),
    (LIST, "who erased it leaves it linked", "find(g, first, key, p);  // which unlinks it", "// which unlinks it"),
]

RING_OF_CELLS = "polder/ds/queue/crq.hpp"
BREAKS += [
    (RING_OF_CELLS, "puts though the taker may have been there", " && (!now.unsafe() || head_.load(order::relaxed) <= t)", ""),
    (RING_OF_CELLS, "puts into a later lap's cell", "now.index() <= t && ", ""),
    (RING_OF_CELLS, "a taker passes without a mark", "state(now.index(), now.marks() | state::is_unsafe)", "state(now.index(), now.marks())"),
    (RING_OF_CELLS, "an empty cell stays for its putter", "passed{state(h + cells_.size(), now.marks())", "passed{state(now.index(), now.marks())"),
    (RING_OF_CELLS, "takes what another's ticket is for", "} else if (now.index() == h) {", "} else if (true) {"),
    (RING_OF_CELLS, "open again", "if ((t & closed) != 0) return false;", ""),
    (RING_OF_CELLS, "empty before head is there", "return (tail_.load(order::relaxed) & ~closed) <= h;", "return (tail_.load(order::relaxed) & ~closed) <= h + 1;"),
]

SEGMENTS, SEGMENT_STACK = "polder/ds/queue/segment_list.hpp", "polder/ds/stack/segment_stack.hpp"
BREAKS += [
    (SEGMENTS, "leaves without a seal", "        first->seal();\n", ""),
    (SEGMENTS, "does not look again after the seal", "if (!first->is_over(random)) continue;", ""),
    (SEGMENTS, "empty after one look", "if (still.at == nullptr && still.turns == seen.turns) return std::nullopt;", "return std::nullopt;"),
    (SEGMENTS, "two of a thread in one segment", "free.at != nullptr && !free.mine", "free.at != nullptr"),
    (SEGMENTS, "head passes tail", "if (tail_.load(order::relaxed) == first) swing(first, next);", ""),
    (SEGMENT_STACK, "removed without a seal", "      top->seal();\n", ""),
    (SEGMENT_STACK, "does not look again after the seal", "if (!top->is_over(random)) continue;", ""),
    (SEGMENT_STACK, "takes from under another", "if (!topmost) continue;", ""),
    (SEGMENT_STACK, "two of a thread in one segment", "free.at != nullptr && !free.mine", "free.at != nullptr"),
    ("polder/ds/parts/k_segment.hpp", "a late put stays", "if (!sealed_.load(order::seq_cst)) return true;", "return true;"),
]

LIFE = "polder/heap/scalloc/span_life.hpp"
BREAKS += [
    (LIFE, "a put outside the lock", "      if (moved && !frees) l.sets[s.cls.load(order::relaxed)].put(s, l.generation.get());\n      Locks::unlock(l.lock);\n",
     "      Locks::unlock(l.lock);\n      if (moved && !frees) l.sets[s.cls.load(order::relaxed)].put(s, l.generation.get());\n"),
    (LIFE, "who cools does not look", "    settle(s, give);\n  }\n\n  // Makes a reusable", "  }\n\n  // Makes a reusable"),
    (LIFE, "a failed step is not tried again", "      if (!moved) continue;", "      if (!moved) return;"),
    (LIFE, "adopted without a look under the lock", "if (s.owner.load(order::relaxed) == o && former", "if (former"),
    (LIFE, "works under a lock with an owner read before", "      if (s.owner.load(order::relaxed) != o) {", "      if (false) {"),
    (LIFE, "a free span keeps its owner", "    s.owner.store(owner_word{}, order::relaxed);  // nobody", "    // nobody"),
]

SPANS = "polder/mem/span_state_model.cpp"
BREAKS += [
    (SPANS, "owner not looked up again", "if (words[b->span].load(order::relaxed) == l + 1) {", "if (true) {"),
    (SPANS, "adoption leaves the word", "      words[s].store(to + 1, order::relaxed);\n", ""),
    (SPANS, "span to the pool while listed", "      unlist(l, b->span);\n      to_pool", "      to_pool"),
    (SPANS, "post and forget", "labs[owner - 1].door.posted(", "(void)std::make_pair("),
    (SPANS, "empty span stays", "s.used.get() == 0) {", "s.used.get() == 99) {"),
]

BREAKS += [
    ("polder/mem/anchor.hpp", "tail linked once", "    do {\n      link_tail(now.avail());", "    link_tail(now.avail());\n    do {\n      "),
    ("polder/heap/lrmalloc/partial_list.hpp", "straight from full, not retired",
     "    if (from == mem::fill::full) retired.push(n, links);\n", ""),
    ("polder/heap/lrmalloc/partial_list.hpp", "retired while it is listed",
     "    if (from == mem::fill::full) retired.push(n, links);\n", "    retired.push(n, links);\n"),
    ("polder/heap/lrmalloc/partial_list.hpp", "listed again", "} else if (from == mem::fill::full) {", "} else {"),
    ("polder/heap/lrmalloc/partial_list.hpp", "listed when it is empty",
     "    if (from == mem::fill::full) retired.push(n, links);\n", "    listed.push(n, links);\n"),
    ("polder/heap/lrmalloc/partial_list.hpp", "never retired", "    retired.push(n, links);\n  }\n}", "  }\n}"),
    ("polder/mem/anchor.hpp", "takes an empty one", "while (now.state() != fill::empty) {\n      POLDER_CHECK(1, now.state() == fill::partial);", "while (true) {"),
]

MICHAEL = "polder/heap/michael/superblock_heap.hpp"
BREAKS += [
    (MICHAEL, "removed without a look", "        if (is_empty(d)) parts_.retire(d);\n        else put_partial(d);", "        parts_.retire(d);"),
    (MICHAEL, "full stays full", "now.state() == fill::full ? fill::partial : now.state()", "now.state()"),
    (MICHAEL, "credits not returned", "now.count() + more, fill::partial", "now.count(), fill::partial"),
    ("polder/heap/michael/descriptor_stack.hpp", "no look at the slots", "is_protected(one) ? waiting_ : head_", "head_"),
    ("polder/heap/michael/descriptor_stack.hpp", "no second look at the head", "if (head_.load(order::acquire) != top) continue;", "static_cast<void>(head_.load(order::acquire));"),
    ("polder/heap/michael/partial_queue.hpp", "link not counted on", "mine.link.load(order::relaxed).then(0)", "counted()"),
    ("polder/heap/michael/partial_stack.hpp", "not walked until it is out", "    if (mine) walk(", "    if (false) walk("),
]

# (protocol file, name of the mutant) -> why no model can notice
DESCRIPTORS = "polder/heap/michael/descriptor_stack.hpp"
AT_REST = "survives, and may: each() is for when nobody is inside"
NOT_LATE = "survives: the model checker does a CAS where it stands; a processor might, without the order, do it later"
RELEASE_SEQUENCE = ("survives: Relacy has the release sequences of C++11, in which a thread's own later stores go on with one; "
                    "C++20's do not")
THIRD_THREADS = ("survives: the looks of a thread that did not pass the barrier itself. The model's light fence orders them in one "
                 "world, its barrier in the other; what the kernel and the processor have does neither")
EPOCH, GATE = "polder/smr/epoch/epoch_clock.hpp", "polder/smr/seat_gate.hpp"
RING = "polder/smr/epoch/token_ring.hpp"
SURVIVES = {
    (EPOCH, ", order 2: release -> relaxed"): RELEASE_SEQUENCE,
    (EPOCH, ", order 3: release -> relaxed"): RELEASE_SEQUENCE,
    (EPOCH, "before_sweep, order 1: acquire -> relaxed"): THIRD_THREADS,
    (EPOCH, "before_sweep, order 2: release -> relaxed"): THIRD_THREADS,
    (RING, ", order 4: release -> relaxed"): RELEASE_SEQUENCE,
    (GATE, "try_own, order 1: acquire -> relaxed"):
        "survives, and may: still_mine() reads the same word again before the bags are touched; the order is there for the reader",
    (GATE, "walk_away, order 1: release -> relaxed"):
        "survives, and may: who walks away has left, which released; it has touched nothing since",
    (GATE, "try_claim, order 1: acquire -> relaxed"):
        "survives, and may: the heavy fence that follows is an acquire fence; the order is there for the reader",
    (LIST, ", order 3: acq_rel -> relaxed"):
        "survives: list-mark is for the caller, who finds the key gone; the list itself needs the link's edge alone",
    (LIST, ", order 5: acquire -> relaxed"): AT_REST,
    (LIST, ", order 6: acquire -> relaxed"): AT_REST,
    (LIST, ", order 7: acquire -> relaxed"): AT_REST,
    (LIST, ", order 8: acquire -> relaxed"): AT_REST,
    ("polder/mem/anchor.hpp", "take_all, order 2: acquire -> relaxed"):
        "survives, and may: what is compared was acquired when it was read; compilers want no failure order above it",
    (DESCRIPTORS, ", order 1: release -> relaxed"): NOT_LATE,
    (DESCRIPTORS, ", order 4: release -> relaxed"): NOT_LATE,
    (DESCRIPTORS, "each, order 4: acquire -> relaxed"): NOT_LATE,
    (DESCRIPTORS, "is_protected, order 1: acquire -> relaxed"): NOT_LATE,
    (DESCRIPTORS, "retire, order 1: acquire -> relaxed"):
        "survives, and may: the fence that follows is an acquire fence; the order is there for the reader",
    (DESCRIPTORS, "each, order 1: acquire -> relaxed"): AT_REST,
    (DESCRIPTORS, "each, order 2: acquire -> relaxed"): AT_REST,
    (MICHAEL, "push, order 2: acquire -> relaxed"):
        "survives, and may: it is is_empty's; the fence in the retire that follows is an acquire fence",
    (MICHAEL, "remove_empty, order 1: acquire -> relaxed"):
        "survives: needed when the descriptor is in its next life and goes on to the list, more steps than a model takes",
    (SEGMENT_STACK, "takes from under another"):
        "survives, and may: a pop that read top takes effect then; the look is the paper's, and says when plainly",
    ("polder/sync/index_stack.hpp", "pop, order 2: acquire -> relaxed"):
        "survives, and may: a successful pop needs no order (see head_), compilers want one above the failure's",
    ("polder/smr/era/era_clock.hpp", "read, order 2: release -> relaxed"): RELEASE_SEQUENCE,
    ("polder/smr/era/era_clock.hpp", "cover, order 1: release -> relaxed"):
        "survives: for the span before, whose end it overwrites; as above, of C++11's release sequences",
    (REQUEST, "help, order 7: release -> relaxed"):
        "survives: needed when a helper answers a second request while a third thread looks at the first, more than a model takes",
    ("polder/sync/lab_state.hpp", "try_claim, order 1: acquire -> relaxed"):
        "survives, and may: the heavy fence that follows is an acquire fence; the order is there for the reader",
}

ORDER = re.compile(r"order::(acquire|release|acq_rel|seq_cst)")


def code_of(line):
    return line.split("//", 1)[0]


def mutants(file):
    """Yields (name, text) for one protocol file."""
    text = (SOURCE / file).read_text()
    lines = text.split("\n")
    function, nth = "", {}
    for number, line in enumerate(lines):
        named = re.match(r"  (?:\[\[nodiscard\]\] )?\w[\w:<>]* (\w+)\(.*\{", line)
        if named:
            function = named[1]
        for found in () if file.endswith("_model.cpp") else ORDER.finditer(code_of(line)):
            weak = line[: found.start()] + "order::relaxed" + line[found.end():]
            nth[function] = nth.get(function, 0) + 1
            name = f"{function}, order {nth[function]}: {found[1]} -> relaxed (line {number + 1})"
            yield name, "\n".join(lines[:number] + [weak] + lines[number + 1:])
    for subject, name, old, new in BREAKS:
        if subject == file:
            if text.count(old) != 1:
                sys.exit(f"mutants.py: '{name}' no longer fits {file}")
            yield name, text.replace(old, new)


def run(compiler, file, name, text):
    """Compiles and runs the models of one mutant; returns what the first one to notice printed, or None."""
    with tempfile.TemporaryDirectory() as folder:
        mutated = Path(folder) / file
        mutated.parent.mkdir(parents=True)
        mutated.write_text(text)
        for model in SUBJECTS[file]:
            program = Path(folder) / "model"
            built = subprocess.run(
                [compiler, "-std=c++20", "-O1", "-w", "-DPOLDER_MODEL", f"-I{folder}", f"-I{SOURCE}",
                 f"-I{ROOT / 'test/model'}", mutated if model == file else SOURCE / model, "-o", program],
                capture_output=True, text=True)
            if built.returncode != 0:
                sys.exit(f"mutants.py: {file}: {name} does not compile:\n{built.stderr}")
            try:
                ran = subprocess.run([program], capture_output=True, text=True, errors="replace", timeout=600)
            except subprocess.TimeoutExpired:
                return "does not end"
            if ran.returncode != 0:
                for line in ran.stdout.split("\n"):
                    if "VIOLATION: " in line:
                        title = line.split("  ")[0].removeprefix("model ")
                        return f"{line.split('VIOLATION: ')[1]} in '{title}'"
                return f"status {ran.returncode}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", help="mutants whose 'file: name' contains this")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()

    work = [(file, name, text) for file in SUBJECTS for name, text in mutants(file)
            if arguments.only in f"{file}: {name}"]
    if not work:
        sys.exit(f"mutants.py: no mutant contains '{arguments.only}'; the files are: {', '.join(SUBJECTS)}")
    survivors = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        outcomes = pool.map(lambda job: run(arguments.compiler, *job), work)
        for (file, name, _), noticed in zip(work, outcomes):
            verdict = f"dies: {noticed}" if noticed else SURVIVES.get((file, name.split(" (")[0]), "SURVIVES")
            survivors += verdict == "SURVIVES"
            print(f"{Path(file).name:18} {name:58} {verdict}", flush=True)
    print(f"{len(work)} mutants, {survivors} survive without a reason")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
