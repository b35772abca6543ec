#!/usr/bin/env python3
"""Weakens one memory order at a time in the protocol files and says which models notice.

    mutants.py [--only NAME …] [--share N] [--full-share N] [--compiler g++] [--jobs 2]

Every order stronger than relaxed, wherever it stands in a protocol file (but see EDGES), becomes relaxed, most of them while the model runs
(sync/atomic_model.hpp: weakening), so it is compiled once; a few other lines are broken on purpose (BREAKS). A mutant dies when a model of that file fails. One that survives is printed and makes the exit status 1,
unless SURVIVES says why it must. Takes minutes: run by hand, after any change to a protocol file.
"""

import argparse
import concurrent.futures
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
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
    "polder/sync/install_once.hpp": ["polder/sync/install_once_model.cpp"],
    "polder/sync/growing_list.hpp": ["polder/sync/growing_list_model.cpp"],
    "polder/sync/next_number.hpp": ["polder/mem/record_table_model.cpp"],
    "polder/sync/noted.hpp": ["polder/sync/noted_model.cpp"],
    "polder/mem/radix_map.hpp": ["polder/mem/radix_map_model.cpp"],
    "polder/mem/record_table.hpp": ["polder/mem/record_table_model.cpp"],
    "polder/mem/sampled_blocks.hpp": ["polder/mem/sampled_blocks_model.cpp"],
    "polder/mem/call_sites.hpp": ["polder/mem/call_sites_model.cpp"],
    "polder/mem/huge_blocks.cpp": ["polder/mem/huge_blocks_model.cpp"],
    "polder/mem/arena.hpp": ["polder/mem/arena_model.cpp"],
    "polder/mem/arena.cpp": ["polder/mem/arena_model.cpp"],
    "polder/mem/delay_ring.hpp": ["polder/mem/delay_ring_model.cpp"],
    "polder/mem/guarded_slot.hpp": ["polder/mem/guarded_slot_model.cpp"],
    "polder/mem/span_state_model.cpp": ["polder/mem/span_state_model.cpp"],
    "polder/mem/anchor.hpp": ["polder/mem/anchor_model.cpp"],
    "polder/ds/tree/abtree.hpp": ["polder/ds/tree/abtree_model.cpp"],
    "polder/ds/tree/occ_avl.hpp": ["polder/ds/tree/occ_avl_model.cpp"],
    "polder/ds/queue/ms_queue.hpp": ["polder/ds/queue/ms_queue_model.cpp", "polder/ds/parts/exact_scan_model.cpp"],
    "polder/ds/parts/elimination.hpp": ["polder/ds/parts/elimination_model.cpp"],
    "polder/ds/parts/treiber_top.hpp": ["polder/ds/stack/treiber_stack_model.cpp", "polder/ds/parts/exact_scan_model.cpp"],
    "polder/ds/tree/skip_list.hpp": ["polder/ds/tree/skip_list_model.cpp"],
    "polder/ds/tree/split_ordered_map.hpp": ["polder/ds/tree/split_ordered_map_model.cpp"],
    "polder/ds/tree/ellen_bst.hpp": ["polder/ds/tree/ellen_bst_model.cpp"],
    "polder/ds/tree/marked_list.hpp": ["polder/ds/tree/marked_list_model.cpp"],
    "polder/ds/parts/exact_scan.hpp": ["polder/ds/parts/exact_scan_model.cpp"],
    "polder/ds/stack/counted_stack.hpp": ["polder/ds/parts/exact_scan_model.cpp"],
    "polder/ds/parts/combining.hpp": ["polder/ds/parts/combining_model.cpp"],
    "polder/ds/parts/two_sided_queue.hpp": ["polder/ds/parts/two_sided_queue_model.cpp"],
    "polder/ds/parts/meeting_slot.hpp": ["polder/ds/parts/meeting_slot_model.cpp"],
    "polder/ds/pool/block_list.hpp": ["polder/ds/pool/block_list_model.cpp"],
    "polder/ds/queue/segment_ring.hpp": ["polder/ds/queue/segment_ring_model.cpp"],
    "polder/ds/parts/ts_lane.hpp": ["polder/ds/parts/ts_lane_model.cpp"],
    "polder/ds/parts/ts_sides.hpp": ["polder/ds/parts/ts_lane_model.cpp"],
    "polder/ds/parts/clock.hpp": ["polder/ds/parts/ts_oldest_model.cpp", "polder/ds/parts/ts_youngest_model.cpp"],
    "polder/ds/parts/ts_oldest.hpp": ["polder/ds/parts/ts_oldest_model.cpp"],
    "polder/ds/parts/ts_queue_buffer.hpp": ["polder/ds/parts/ts_oldest_model.cpp"],
    "polder/ds/parts/raised.hpp": ["polder/ds/parts/ts_youngest_model.cpp"],
    "polder/ds/parts/stamped.hpp": ["polder/ds/parts/ts_oldest_model.cpp", "polder/ds/parts/ts_youngest_model.cpp"],
    "polder/ds/parts/ts_stack_buffer.hpp": ["polder/ds/parts/ts_youngest_model.cpp"],
    "polder/ds/parts/ts_youngest.hpp": ["polder/ds/parts/ts_youngest_model.cpp"],
    "polder/ds/parts/sleepers.hpp": ["polder/ds/parts/sleepers_model.cpp"],
    "polder/ds/parts/claimed_cells.hpp": ["polder/ds/parts/claimed_cells_model.cpp"],
    "polder/ds/parts/index_ring.hpp": ["polder/ds/parts/index_ring_model.cpp"],
    "polder/ds/parts/helped_index_ring.hpp": ["polder/ds/parts/helped_index_ring_model.cpp"],
    "polder/ds/parts/owned_backends.hpp": ["polder/ds/parts/owned_backends_model.cpp"],
    "polder/ds/parts/closing.hpp": ["polder/ds/parts/closing_model.cpp"],
    "polder/ds/parts/by_number.hpp": ["polder/ds/parts/by_number_model.cpp"],
    "polder/ds/parts/numbered.hpp": ["polder/ds/parts/numbered_model.cpp"],
    "polder/ds/parts/per_thread.hpp": ["polder/ds/parts/per_thread_model.cpp"],
    "polder/ds/parts/balancer/least_recently_used.hpp": ["polder/ds/parts/balancer/least_recently_used_model.cpp"],
    "polder/ds/parts/collection.hpp": ["polder/ds/parts/collection_model.cpp"],
    "polder/ds/parts/helped_queue.hpp": ["polder/ds/parts/helped_queue_model.cpp"],
    "polder/ds/queue/mpsc_list.hpp": ["polder/ds/queue/mpsc_list_model.cpp"],
    "polder/ds/queue/vyukov_ring.hpp": ["polder/ds/queue/vyukov_ring_model.cpp"],
    "polder/ds/queue/spsc_ring.hpp": ["polder/ds/queue/spsc_ring_model.cpp"],
    "polder/ds/queue/crq.hpp": ["polder/ds/queue/crq_model.cpp"],
    "polder/ds/queue/faa_queue.hpp": ["polder/ds/queue/faa_queue_model.cpp"],
    "polder/ds/queue/lcrq.hpp": ["polder/ds/queue/lcrq_model.cpp"],
    "polder/ds/queue/rts_queue.hpp": ["polder/ds/queue/rts_queue_model.cpp"],
    "polder/ds/queue/random_dequeue_queue.hpp": ["polder/ds/queue/random_dequeue_queue_model.cpp"],
    "polder/ds/queue/per_producer_queue.hpp": ["polder/ds/queue/per_producer_queue_model.cpp"],
    "polder/ds/queue/segment_list.hpp": ["polder/ds/queue/segment_list_model.cpp"],
    "polder/ds/stack/segment_stack.hpp": ["polder/ds/stack/segment_stack_model.cpp"],
    "polder/ds/parts/k_segment.hpp": ["polder/ds/stack/segment_stack_model.cpp", "polder/ds/queue/segment_list_model.cpp"],
    "polder/ds/parts/slot.hpp": ["polder/ds/stack/segment_stack_model.cpp", "polder/ds/queue/segment_list_model.cpp"],
    "polder/heap/lrmalloc/page_array.hpp": ["polder/heap/lrmalloc/page_map_model.cpp"],
    "polder/heap/lrmalloc/page_tree.hpp": ["polder/heap/lrmalloc/page_map_model.cpp"],
    "polder/heap/polder/tending.hpp": ["polder/heap/polder/tending_model.cpp"],
    "polder/heap/lrmalloc/partial_list.hpp": ["polder/heap/lrmalloc/fill_and_flush_model.cpp"],
    "polder/heap/supermalloc/slice_classes.hpp": ["polder/heap/supermalloc/slice_classes_model.cpp"],
    "polder/heap/supermalloc/chunk_map.hpp": ["polder/heap/supermalloc/chunk_map_model.cpp"],
    "polder/heap/scalloc/span_arena.hpp": ["polder/heap/scalloc/span_arena_model.cpp"],
    "polder/heap/scalloc/span_arena.cpp": ["polder/heap/scalloc/span_arena_model.cpp"],
    "polder/heap/scalloc/span_life.hpp": ["polder/heap/scalloc/span_life_model.cpp"],
    "polder/heap/michael/hyperblocks.hpp": ["polder/heap/michael/hyperblocks_model.cpp"],
    "polder/heap/michael/hyperblocks.cpp": ["polder/heap/michael/hyperblocks_model.cpp"],
    "polder/heap/michael/superblock_heap.hpp": ["polder/heap/michael/superblock_heap_model.cpp"],
    "polder/heap/michael/descriptor_stack.hpp": ["polder/heap/michael/descriptor_stack_model.cpp"],
    "polder/heap/michael/partial_queue.hpp": ["polder/heap/michael/partial_queue_model.cpp"],
    "polder/heap/michael/partial_stack.hpp": ["polder/heap/michael/partial_stack_model.cpp"],
    "polder/smr/epoch/epoch_clock.hpp": ["polder/smr/epoch/epoch_clock_model.cpp", "polder/smr/seat_gate_model.cpp"],
    "polder/smr/epoch/token_ring.hpp": ["polder/smr/epoch/token_ring_model.cpp"],
    "polder/smr/seat_gate.hpp": ["polder/smr/seat_gate_model.cpp"],
    "polder/smr/slot_seat.hpp": ["polder/smr/slot_seat_model.cpp"],
    "polder/smr/membership.hpp": ["polder/smr/membership_model.cpp"],
    "polder/os/timeline_sessions.hpp": ["polder/os/timeline_sessions_model.cpp"],
    "polder/os/timeline_kept_events.hpp": ["polder/os/timeline_sessions_model.cpp"],
    "polder/os/background_id.hpp": ["polder/os/background_id_model.cpp"],
    "polder/smr/orphan_hint.hpp": ["polder/smr/orphan_hint_model.cpp"],
    "polder/malloc/listener.hpp": ["polder/malloc/listener_model.cpp"],
    "polder/smr/backlog.hpp": ["polder/smr/backlog_model.cpp"],
    "polder/smr/held_numbers.hpp": ["polder/smr/held_numbers_model.cpp"],
    "polder/smr/hazard/hazard_slot.hpp": ["polder/smr/hazard/hazard_slot_model.cpp"],
    "polder/smr/era/era_clock.hpp": ["polder/smr/era/era_clock_model.cpp"],
    "polder/smr/era/era_request.hpp": ["polder/smr/era/era_request_model.cpp"],
    "polder/smr/neutral/read_phase.hpp": ["polder/smr/neutral/read_phase_model.cpp"],
    "polder/smr/neutral/chosen_signal.hpp": ["polder/smr/neutral/chosen_signal_model.cpp"],
    "polder/smr/neutral/rounds.hpp": ["polder/smr/neutral/read_phase_model.cpp"],
    "polder/smr/presence.hpp": ["polder/smr/presence_model.cpp"],
    "polder/smr/fences.hpp": ["polder/smr/inside_or_unlinked_model.cpp"],
    "polder/smr/hazard/lent_slots.hpp": ["polder/smr/hazard/lent_slots_model.cpp"],
    "polder/smr/era/era_answers.hpp": ["polder/smr/era/era_answers_model.cpp"],
    "polder/ds/parts/closing_model.cpp": ["polder/ds/parts/closing_model.cpp"],
    "polder/smr/backlog_model.cpp": ["polder/smr/backlog_model.cpp"],
    "polder/smr/hazard/hazard_slot_model.cpp": ["polder/smr/hazard/hazard_slot_model.cpp"],
    "polder/smr/era/era_clock_model.cpp": ["polder/smr/era/era_clock_model.cpp"],
}

# (protocol file, what it breaks, text, replacement)
BREAKS = [
    ("polder/smr/presence.hpp", "no heavy fence", "while (!fences.heavy()) between_tries(fences);", "static_cast<void>(fences);"),
    ("polder/smr/presence.hpp", "waits for nobody", "while ((word & 1) != 0 && m->seat.word() == word) sched_yield();", "static_cast<void>(word);"),
    ("polder/smr/epoch/epoch_clock.hpp", "freed an epoch too early", "lag = 3", "lag = 2"),
    ("polder/smr/epoch/epoch_clock.hpp", "no light fence", "      fences.light();", "      "),
    ("polder/smr/epoch/epoch_clock.hpp", "no heavy fence", "if (!fences.heavy()) return false;", ""),
    ("polder/smr/epoch/epoch_clock.hpp", "announces an epoch long gone", "if (again == now) [[likely]]", "if (true)"),
    ("polder/smr/epoch/token_ring.hpp", "no light fence", "      fences.light();", "      "),
    ("polder/smr/epoch/token_ring.hpp", "no heavy fence", "if (!fences.heavy()) break;", ""),
    ("polder/smr/epoch/token_ring.hpp", "an old fence serves for ever", "fenced = move(seen, next);\n      seen = fenced ? next : look();", "move(seen, next);\n      seen = look();"),
    ("polder/smr/epoch/token_ring.hpp", "goes on from where another moved it", "seen = fenced ? next : look();", "seen = look();"),
    ("polder/smr/hazard/hazard_slot.hpp", "no light fence", "      fences.light();", "      "),
    ("polder/smr/hazard/hazard_slot.hpp", "no second look at the source", "if (again == seen) [[likely]]", "if (true)"),
    ("polder/smr/hazard/hazard_slot_model.cpp", "no heavy fence", "if (old == 0 || !fences.heavy()) return;", "if (old == 0) return;"),
    ("polder/smr/fences.hpp", "no light fence", "      signal_fence();", "      "),
    ("polder/smr/fences.hpp", "no barrier", "const bool passed =\n        os::heavy_fence() || (os::register_heavy_fence() && os::heavy_fence()) || os::tour_processors();", "const bool passed = true;"),
    ("polder/smr/fences.hpp", "refused for good, and goes on", "(os::register_heavy_fence() && os::heavy_fence())", "(os::heavy_fence(), true)"),
    ("polder/smr/fences.hpp", "light though there is no barrier", "if (asymmetric_) [[likely]] {", "if (true) {"),
    ("polder/smr/hazard/lent_slots.hpp", "lent by a store", "l.taken.cas(expected, true, order::acquire, order::relaxed))", "(l.taken.store(!expected, order::relaxed), true))"),
    ("polder/smr/hazard/lent_slots.hpp", "a row over another's", "while (!first_.cas(before, made, order::release, order::relaxed));", "while (first_.store(made, order::release), false);"),
    ("polder/smr/hazard/lent_slots.hpp", "given back before it is clear", "    s.clear();\n    static_cast<lent&>(s).taken.store(false, order::release);  // sync: slot-lent\n", "    static_cast<lent&>(s).taken.store(false, order::release);\n    s.clear();\n"),
    ("polder/smr/hazard/lent_slots.hpp", "linked before who made it has its slot", "    made->slots[0].taken.store(true, order::relaxed);\n", ""),
    ("polder/smr/era/era_answers.hpp", "a cell over another's", "while (!first_.cas(before, made, order::acq_rel, order::acquire));", "while (first_.store(made, order::release), false);"),
    ("polder/smr/era/era_answers.hpp", "a number for two", "    do {\n      const unsigned number = before == nullptr ? 0 : before->number.get() + 1;", "    const unsigned number = before == nullptr ? 0 : before->number.get() + 1;\n    do {"),
    ("polder/smr/era/era_answers.hpp", "a cell for each time", "if (c->helper.get() == helper) return c;", ""),
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
    ("polder/smr/neutral/chosen_signal.hpp", "chosen by two", "    if (number_.load(order::relaxed) != 0) return;\n", ""),
    ("polder/smr/seat_gate.hpp", "the owner does not look", "state_.load(order::acquire) == seat_state::owned", "true"),
    ("polder/smr/membership.hpp", "joined by a store", "first_.cas(made->next, made, order::release, order::relaxed)", "(first_.store(made, order::release), true)"),
    ("polder/smr/membership.hpp", "a row for each", "rows_[row].cas(places, made, order::acq_rel, order::acquire)", "(rows_[row].store(made, order::release), true)"),
    ("polder/smr/membership.hpp", "a new seat each time", "if (m->number == n && m->gate.try_own()) {", "if (false) {"),
    ("polder/os/timeline_sessions.hpp", "held by two", "return !held_.exchange(true, order::acquire);", "if (held_.load(order::acquire)) return false;\n    return held_.store(true, order::relaxed), true;"),
    ("polder/os/timeline_sessions.hpp", "taken over though it is of the session", "!b->is_of(now()) && ", ""),
    ("polder/os/background_id.hpp", "begun by two", "return word_.cas(none, coming, order::acquire, order::relaxed);", "if (word_.load(order::acquire) != none) return false;\n    return word_.store(coming, order::relaxed), true;"),
    ("polder/os/timeline_sessions.hpp", "listed by a store", "!all_.cas(before, b, order::release, order::relaxed)", "(all_.store(b, order::release), false)"),
    ("polder/smr/slot_seat.hpp", "nothing is counted", "if (top_ == far_out_of_order) [[unlikely]]", "if (false)"),
    ("polder/smr/slot_seat.hpp", "taken for in order", "    if (found == before) top_ = far_out_of_order;\n", ""),
    ("polder/smr/slot_seat.hpp", "one look is enough", "while (after != before);", "while (false && after != before);"),
    ("polder/sync/index_stack.hpp", "pop does not count", "head(next, now.tag() + 1)", "head(next, now.tag())"),
    ("polder/sync/index_stack.hpp", "take_all does not count", "head(none, now.tag() + 1)", "head(none, now.tag())"),
    ("polder/sync/run_bitmap.hpp", "try_take_at overwrites", "while ((now & run) == 0) {", "while (true) {"),
    ("polder/sync/lab_state.hpp", "has what is reserved", "std::uint32_t none = word(lab_state::idle);", "std::uint32_t none = word(lab_state::idle, number());"),
    ("polder/sync/lab_state.hpp", "a late announcement stays", "    active_.store(0, order::relaxed);  // a former", "    // a former"),
    ("polder/sync/lab_state.hpp", "opens what it has not claimed", "if (step(lab_state::shut, lab_state::claimed, order::acquire)) {", "if (state() == lab_state::shut) {"),
    ("polder/sync/lab_state.hpp", "left open", "    close();\n    for (;;) {", "    for (;;) {"),
    ("polder/sync/lab_state.hpp", "no heavy fence", "const bool fenced = heavy_fence();", "const bool fenced = true;"),
    ("polder/sync/lab_state.hpp", "no light fence", "    signal_fence();  // sync: claim-or-enter; see active_\n    return true;", "    return true;"),
    ("polder/sync/lab_state.hpp", "no light fence in come_in", "    signal_fence();  // sync: claim-or-enter; see active_\n    if (is_open())", "    if (is_open())"),
    ("polder/sync/lab_state.hpp", "claims without a look at active", "fenced && active_", "fenced || active_"),
    ("polder/sync/lab_state.hpp", "key not closed", "    key_.store(no_key, order::relaxed);\n", ""),
    ("polder/sync/lab_state.hpp", "limit not closed", "    limit_.store(0, order::relaxed);\n", ""),
    ("polder/sync/lab_state.hpp", "leaver does not look again", "if (!pending() || !try_drain()) return;", "return;"),
    ("polder/sync/lab_state.hpp", "poster does not look", "    if (!try_drain()) return;\n    drain();\n    settle(pending, drain);", "    (void)drain, (void)pending;"),
]

BREAKS += [
    ("polder/ds/parts/two_sided_queue.hpp", "put before it is there", "    static_cast<chunk*>(last_)->places[end_++].put(std::move(e));\n    put_.store(put_.load(order::relaxed) + 1, order::release);", "    put_.store(put_.load(order::relaxed) + 1, order::release);\n    static_cast<chunk*>(last_)->places[end_++].put(std::move(e));"),
    ("polder/ds/parts/two_sided_queue.hpp", "the first chunk is given away while in use", "if (begin_ == Room) shrink();", "if (begin_ == Room) shrink();\n    if (first_ != &before_ && taken % 2) spare_.store(static_cast<chunk*>(first_), order::release);"),
    ("polder/ds/parts/claimed_cells.hpp", "no light fence", "    fences.light();\n", ""),
    ("polder/ds/parts/claimed_cells.hpp", "no heavy fence", "while (!fences.heavy())", "while (false)"),
    ("polder/ds/parts/claimed_cells.hpp", "no look after the fence", "return is_filled(i) || !settle", "return !settle"),
    ("polder/ds/parts/claimed_cells.hpp", "spoils without settling", "return is_filled(i) || !settle(at(i / together), i, order::acquire);", "return is_filled(i);"),
    ("polder/sync/owned_lock.hpp", "unlock wakes nobody", "if ((was & waited_for) != 0) wake();", "(void)wake, (void)was;"),
    ("polder/sync/owned_lock.hpp", "sleeps without a mark", "} else if (word_.cas(seen, seen | waited_for, order::relaxed, order::relaxed)) {\n        sleep(seen | waited_for);",
     "} else {\n        sleep(seen);"),
    ("polder/sync/owned_lock.hpp", "forgets the others that wait", "me | waited_for, order::acquire", "me, order::acquire"),
]

HUGE, ARENA = "polder/mem/huge_blocks.cpp", "polder/mem/arena.cpp"
BREAKS += [
    ("polder/mem/sampled_blocks.hpp", "claimed by a store", "if (!s.block.cas(none, claimed, order::acquire, order::relaxed)) continue;", "none = claimed, s.block.store(none, order::relaxed);"),
    ("polder/mem/sampled_blocks.hpp", "filled before it is written", "        s.bytes.store(b.bytes, order::relaxed);\n        s.site.store(b.site, order::relaxed);\n        s.block.store(address(b.block), order::release);  // sync: sample-filled\n", "        s.block.store(address(b.block), order::release);\n        s.bytes.store(b.bytes, order::relaxed);\n        s.site.store(b.site, order::relaxed);\n"),
    ("polder/mem/call_sites.hpp", "claimed by a store", "marks_[n].cas(now, mark, order::relaxed, order::relaxed)", "(marks_[n].store(mark, order::relaxed), true)"),
    ("polder/mem/call_sites.hpp", "known before its frames are", "        for (unsigned f = 0; f != depth; ++f) s.frames[f].set(frames[f]);\n        s.depth.store(depth + 1, order::release);  // sync: site-known\n", "        s.depth.store(depth + 1, order::release);\n        for (unsigned f = 0; f != depth; ++f) s.frames[f].set(frames[f]);\n"),
    ("polder/mem/call_sites.hpp", "counted by a store", "s.drawn_blocks.fetch_add(1, order::relaxed);", "s.drawn_blocks.store(s.drawn_blocks.load(order::relaxed) + 1, order::relaxed);"),
    ("polder/sync/install_once.hpp", "installed by a store", "slot.cas(known, fresh, order::acq_rel, order::acquire)", "(slot.store(fresh, order::release), true)"),
    ("polder/sync/growing_list.hpp", "pushed by a store", "!first_.cas(first, &member, order::release, order::relaxed)", "(first_.store(&member, order::release), false)"),
    ("polder/sync/growing_list.hpp", "linked after it is pushed", "    do (member.*next).set(first);\n    while (!first_.cas(first, &member, order::release, order::relaxed));  // sync: list-grown\n", "    while (!first_.cas(first, &member, order::release, order::relaxed));\n    (member.*next).set(first);\n"),
    ("polder/sync/noted.hpp", "who forgets does not look again", "  if (any()) note(summary, bit);", "  (void)any;"),
    ("polder/mem/guarded_slot.hpp", "made by two", "return now_.cas(was, state::being_made, order::acquire, order::relaxed);", "if (now_.load(order::acquire) != was) return false;\n    return now_.store(state::being_made, order::relaxed), true;"),
    ("polder/mem/guarded_slot.hpp", "given by two", "return now_.cas(was, state::being_given, order::acquire, order::relaxed);", "if (now_.load(order::acquire) != was) return false;\n    return now_.store(state::being_given, order::relaxed), true;"),
    ("polder/mem/guarded_slot.hpp", "live before it is known", "    block_.store(block, order::relaxed);\n    asked_.store(asked, order::relaxed);\n    now_.store(state::live, order::release);", "    now_.store(state::live, order::release);\n    block_.store(block, order::relaxed);\n    asked_.store(asked, order::relaxed);"),
    ("polder/mem/delay_ring.hpp", "swapped in two steps", "void* const before = slots_[n % room].exchange(block, order::acq_rel);", "void* const before = slots_[n % room].load(order::acquire);\n    slots_[n % room].store(block, order::release);"),
    ("polder/mem/delay_ring.hpp", "loses what waited longest", "if (before != nullptr)", "if (before != nullptr && block != nullptr)"),
    ("polder/sync/next_number.hpp", "counted by a store", "count.cas(last, last + 1, order::release, order::relaxed)", "(count.store(last + 1, order::release), true)"),
    ("polder/sync/next_number.hpp", "counted before its table is there", "install_once(tables[(last + 1) / per_table], make, discard) == nullptr", "(last + 1) % per_table != 0 && install_once(tables[(last + 1) / per_table], make, discard) == nullptr"),
    (HUGE, "given back twice", "if (!r.user.cas(user, 0, order::acq_rel, order::relaxed)) return false;", "if (r.user.load(order::acquire) != user) return false;\n  r.user.store(0, order::release);"),
    (HUGE, "taken from the cache by a store", "if (!slot.cas(v, 0, order::acquire, order::relaxed)) return false;", "slot.store(0, order::relaxed);"),
    (HUGE, "purged though somebody took it", "if (!uncache(slot, v)) continue;", "static_cast<void>(uncache(slot, v));"),
    (HUGE, "grows into a rest that somebody took", "if (!uncache(rest)) return;", "static_cast<void>(uncache(rest));"),
    (HUGE, "grows into a mapping that lies elsewhere", "if (behind.base.get() != r.base.get() + r.bytes.get()) {", "if (false) {"),
    (HUGE, "unmaps a place that was lost", "if (how == os::moved::refused) os::unmap(base, bytes);", "os::unmap(base, bytes);"),
    (HUGE, "is found where it was until it has moved anywhere", "map_.store(user, 0);\n  void* const base = os::move_anywhere(r.base.get(), r.bytes.get(), bytes);", "void* const base = os::move_anywhere(r.base.get(), r.bytes.get(), bytes);\n  map_.store(user, 0);"),
    (HUGE, "forgets whatever lies in a place that was lost", "map_.forget(address(base) + before, radix_map::huge_mark | number);", "map_.store(address(base) + before, 0);"),
    (ARENA, "no second look at how many grains", "if (k.grains.load(order::relaxed) == n) return n;", "return n;"),
    (ARENA, "hidden by who held it for another", "  note(summary(c), summary_bit(c));\n", ""),
    (ARENA, "open before it is found", "    k.base.store(base, order::release);  // sync: chunk-base\n", "    static_cast<void>(k.taken.give(0, 1));\n    k.base.store(base, order::release);\n"),
    (ARENA, "a number for two", "while (!extra_open_.cas(number, number + 1, order::acq_rel, order::acquire));", "while (extra_open_.store(number + 1, order::release), false);"),
]

PAGES = "polder/heap/lrmalloc/page_array.hpp"
BREAKS += [
    (PAGES, "asks for the low end first", "page < high_.load(order::acquire) && page >= low_.load(order::acquire)", "page >= low_.load(order::acquire) && page < high_.load(order::acquire)"),
    (PAGES, "in the window before it may be touched, below", "      if (low != 0 && !commit(from, low)) return false;\n      if (low_.cas(low, from, order::release, order::acquire)) {  // sync: page-window\n",
     "      const std::size_t was = low;\n      if (low_.cas(low, from, order::release, order::acquire)) {\n        if (was != 0) static_cast<void>(commit(from, was));\n"),
    (PAGES, "in the window before it may be touched, above", "      if (!commit(high != 0 ? high : low, to)) return false;", "      const std::size_t was = high;\n      if (!high_.cas(high, to, order::release, order::relaxed)) continue;\n      if (!commit(was != 0 ? was : low, to)) return false;"),
    (PAGES, "the window's low end rises", "while (low == 0 || from < low) {", "while (from != low) {"),
]

HYPER = "polder/heap/michael/hyperblocks.cpp"
BREAKS += [
    (HYPER, "unmapped though it is not empty", "if (!h.taken.try_take_at(0, this->places())) return;", "static_cast<void>(h.taken.try_take_at(0, this->places()));"),
    (HYPER, "whoever searched raises where searches begin", "seek.cas(began, began - std::uint32_t(began) + n, order::relaxed, order::relaxed);", "seek.store(began - std::uint32_t(began) + n, order::relaxed);"),
    (HYPER, "what is given is not counted", "seek.fetch_add(given_once, order::release) + given_once;", "seek.fetch_add(0, order::release);"),
    (HYPER, "places are open before anything lies there", "    [[maybe_unused]] const bool ours = table_.at(number).taken.try_take_at(0, most_places);\n    POLDER_CHECK(1, ours);\n", ""),
    (HYPER, "a spare one for two", "if (n != 0 && slot.cas(n, 0, order::acquire, order::relaxed)) return n;", "if (n != 0) return slot.store(0, order::relaxed), n;"),
    (HYPER, "put aside over another", "spare_[i].cas(none, number, order::release, order::relaxed))", "(static_cast<void>(none), spare_[i].store(number, order::release), true))"),
]

SPAN_ARENA = "polder/heap/scalloc/span_arena.cpp"
BREAKS += [
    (SPAN_ARENA, "taken by a store", "taken_.cas(n, n + 1, order::release, order::relaxed)", "(taken_.store(n + 1, order::release), true)"),
    (SPAN_ARENA, "opened before it may be touched", "    for (; step != 0; step /= 2) {\n", "    for (opened_from(open, step); step != 0; step /= 2) {\n"),
    (SPAN_ARENA, "opened in part, and goes for whole", "if (!setting_.protect && whole >= open) {", "if (!setting_.protect) {"),
    (SPAN_ARENA, "none where another opened the last", "  if (open > n) return true;  // another was here meanwhile\n", "  static_cast<void>(n);\n"),
    (SPAN_ARENA, "taken before it is opened", "if (n >= opened()) {", "if (n > opened()) {"),
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
    (REQUEST, "no fence after the span", "    fence(order::seq_cst);  // sync: source-covered, era-left: store of the span, load of the request; see above\n", ""),
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

TREE = "polder/ds/tree/abtree.hpp"
BREAKS += [
    (TREE, "a range reads once", "while (!unchanged(links));", "while (false && !unchanged(links));"),
]

LANE = "polder/ds/parts/ts_lane.hpp"
BREAKS += [
    (LANE, "one that is late at most", "            n->waits.set(late_.get());\n", ""),
    (LANE, "taken twice", "!n->taken.exchange(true, order::release)", "(n->taken.store(true, order::release), true)"),
    (LANE, "linked from the old end first", "    newest_.store(n, order::release);        // sync: lane-link\n    before->newer.store(n, order::release);  // sync: lane-link\n", "    before->newer.store(n, order::release);\n    newest_.store(n, order::release);\n"),
    (LANE, "unlinks the last", "if (newer == nullptr) return false;", "if (newer == nullptr) return g.retire(n), true;"),
    (LANE, "many sweep", "if (sweeping_.exchange(true, order::acq_rel)) return;", "sweeping_.exchange(true, order::acq_rel);"),
    (LANE, "takers raise nothing", "    raised_.to(n->number.get());\n", ""),
]

SIDES = "polder/ds/parts/ts_sides.hpp"
BREAKS += [
    (SIDES, "across takes what was put behind its scan began", "(across && !stamp_of_best->begun_by(now)) || ", ""),
    (SIDES, "one scan is enough to say that all is empty", "if (!seen && puts == 0) return false;", "return false;"),
    (SIDES, "what was put and taken between the scans does not count", "if (!seen && puts == 0)", "if (!seen)"),
    (SIDES, "the other side first", "if (best != nullptr && !across) return false;", ""),
    (SIDES, "across takes the latest", "earlier(*stamp, *stamp_of_best)", "earlier(*stamp_of_best, *stamp)"),
    (SIDES, "near takes the earliest", "earlier(*stamp_of_best, *stamp)) choose", "earlier(*stamp, *stamp_of_best)) choose"),
    (SIDES, "everything near is taken at once", "const bool at_once = !stamp || stamp->over_after(now);", "const bool at_once = true;"),
]

LIST = "polder/ds/tree/marked_list.hpp"
BREAKS += [
    (LIST, "a removal does not mark", "p.after.with(mark), order::acq_rel", "p.after, order::acq_rel"),
    (LIST, "passes a marked node", "if (!pass(p)) break;", ""),
    (LIST, "retires what another unlinked", "      return false;  // sync: list-link", "      {}"),
    (LIST, "who erased it leaves it linked", "find(g, first, key, p);  // which unlinks it", "// which unlinks it"),
]

SKIPS = "polder/ds/tree/skip_list.hpp"
BREAKS += [
    (SKIPS, "a removal does not mark", "cas(next, next.with(mark), order::acq_rel, order::acquire));", "cas(next, next, order::acq_rel, order::acquire));"),
    (SKIPS, "a removal marks the lowest link alone", "for (unsigned lane = n->height; lane-- != 1;) {", "for (unsigned lane = 1; lane-- != 1;) {"),
    (SKIPS, "who removes it retires it", "hands{2}", "hands{1}"),
    (SKIPS, "retired before it is unlinked", "    find<true>(g, n->key, p);\n", "    static_cast<void>(p);\n"),
    (SKIPS, "the last search does not pass the key", "find<true>(g, n->key, p)", "find(g, n->key, p)"),
    (SKIPS, "links on though it is marked", "if (next.has(mark)) return;", ""),
    (SKIPS, "a place behind a node that is removed", "if (at.has(mark)) goto again;", ""),
    (SKIPS, "a look takes what is marked for there", "key < n->key || after.has(mark) ? nullptr : n", "key < n->key ? nullptr : n"),
    (SKIPS, "a look goes down from what is marked", "if (!after.has(mark)) less = n;", "less = n;"),
    (SKIPS, "linked by a store", "if (p.from[0]->cas(p.at[0], word(made), order::acq_rel, order::relaxed)) break;", "if (p.from[0]->store(word(made), order::release), true) break;"),
    (SKIPS, "unlinked by a store", "if (!to->cas(at, rest, order::acq_rel, order::relaxed)) goto again;", "to->store(rest, order::release);"),
]

BUCKETS = "polder/ds/tree/split_ordered_map.hpp"
BREAKS += [
    (BUCKETS, "a segment over another's", "if (!segments_[s].cas(none, made, order::release, order::relaxed)) delete[] made;", "static_cast<void>(none), segments_[s].store(made, order::release);"),
    (BUCKETS, "grown before there is a segment", "    const unsigned s = bits - first_bits + 1;\n", "    const unsigned s = bits - first_bits + 1;\n    unsigned seen = bits;\n    bits_.cas(seen, bits + 1, order::acq_rel, order::relaxed);\n"),
]

BST = "polder/ds/tree/ellen_bst.hpp"
BREAKS += [
    (BST, "the update word is read after the child", "      f.p_update = g.protect(0, f.p->update);  // before the child: a child read later has this update, or a newer\n      f.l = g.protect(0, f.p->child[f.p->above(key) ? 0 : 1]);\n", "      f.l = g.protect(0, f.p->child[f.p->above(key) ? 0 : 1]);\n      f.p_update = g.protect(0, f.p->update);\n"),
    (BST, "inserts where another does something", "      if (f.l->is(key)) return false;\n      if (state_of(f.p_update) != bst_state::clean) {", "      if (f.l->is(key)) return false;\n      if (false) {"),
    (BST, "flagged by a store", "if (f.p->update.cas(seen, word(bst_state::to_insert, op), order::acq_rel,\n                          order::acquire)) {", "if (f.p->update.store(word(bst_state::to_insert, op), order::release), true) {"),
    (BST, "takes the parent out without a mark", "if (op->p.get()->update.cas(seen, marked, order::acq_rel, order::acquire)) {", "if (true) {"),
    (BST, "does not backtrack", "if (unflag(op->gp_or_made.get(), bst_state::to_delete, op)) unname(g, op->p_update.get().pointer());", "static_cast<void>(0);"),
    (BST, "everybody who helps took the flag away", "return n->update.cas(flagged, word(bst_state::clean, op), order::acq_rel, order::relaxed);", "return n->update.cas(flagged, word(bst_state::clean, op), order::acq_rel, order::relaxed), true;"),
    (BST, "hung there by a store", "parent->child[side].cas(old, by, order::acq_rel, order::relaxed);", "parent->child[side].store(by, order::release);"),
    (BST, "who expects a record does not name it", "if (r->names.cas(now, now + 1, order::relaxed, order::relaxed)) return true;", "return true;"),
    (BST, "names what is retired", "while (now != 0) {", "while (true) {"),
    (BST, "a clean word names no record", "    return n->update.cas(flagged, word(bst_state::clean, op), order::acq_rel, order::relaxed);", "    return n->update.cas(flagged, word(bst_state::clean, nullptr), order::acq_rel, order::relaxed);"),
]

QUEUE, TOP = "polder/ds/queue/ms_queue.hpp", "polder/ds/parts/treiber_top.hpp"
BREAKS += [
    (QUEUE, "head passes tail", "if (last == first) swing(first, last = next);", "if (last == first) last = next;"),
    (QUEUE, "tail is never looked at", "if (reached_.load(order::acquire) == first) {", "if (false) {"),
    (QUEUE, "reached moves by a store", "reached_.cas(expected, last, order::release, order::relaxed);", "reached_.store(last, order::release);"),
    (QUEUE, "head moves by a store", "if (!head_.cas(expected, next, order::acq_rel, order::relaxed)) return std::nullopt;", "static_cast<void>(expected), head_.store(next, order::release);"),
    (QUEUE, "the new sentinel is retired", "g.retire(first);", "g.retire(next);"),
    (TOP, "top moves by a store", "top_.cas(now, left, order::acq_rel, order::relaxed)", "(top_.store(left, order::relaxed), true)"),
    (TOP, "the top is not protected", "link now = g.protect(0, top_);", "static_cast<void>(g);\n    link now = top_.load(order::acquire);"),
]

ELIMINATION = "polder/ds/parts/elimination.hpp"
BREAKS += [
    (ELIMINATION, "withdraws what was taken", "if (s.cas(offered, word(), order::relaxed, order::relaxed)) return false;", "if (s.store(word(), order::relaxed), true) return false;"),
    (ELIMINATION, "leaves what was given", "if (s.cas(seen, word(), order::acquire, order::acquire)) return nullptr;", "if (s.store(word(), order::relaxed), true) return nullptr;"),
    (ELIMINATION, "takes by a store", "return s.cas(seen, word(nullptr, done), order::acquire, order::relaxed) ? n : nullptr;", "return s.store(word(nullptr, done), order::relaxed), n;"),
    (ELIMINATION, "gives by a store", "return s.cas(seen, word(n, done), order::release, order::relaxed);", "return s.store(word(n, done), order::release), true;"),
]

SCAN = "polder/ds/parts/exact_scan.hpp"
BREAKS += [
    (SCAN, "two passes, whatever they saw", "if (e || now == before) return e;", "return e;"),
    (TOP, "all ends are one", "next.is_end() ? next.next_end() : next;", "next;"),
]

TS_BUFFER, TS_SEARCH = "polder/ds/parts/ts_stack_buffer.hpp", "polder/ds/parts/ts_youngest.hpp"
BREAKS += [
    ("polder/ds/parts/clock.hpp", "a stamp that moved nothing on", "if (next_.cas(to, from + 1, order::relaxed, order::relaxed)) ++to;", "++to;"),
    ("polder/ds/parts/clock.hpp", "what began at the same number began before", "return from < now;", "return from <= now;"),
    ("polder/ds/parts/clock.hpp", "a thread's number is not kept", "    mine.store(at, order::relaxed);\n", ""),
    ("polder/ds/parts/ts_queue_buffer.hpp", "two take the same", "return oldest_.cas(now, p.first, order::release, order::relaxed);", "return oldest_.store(p.first, order::release), now != nullptr;"),
    ("polder/ds/parts/ts_oldest.hpp", "takes what was put behind its scan began", "!earliest->begun_by(now) || ", ""),
    ("polder/ds/parts/ts_oldest.hpp", "takes the latest", "!earlier(*stamp, *earliest)", "earlier(*stamp, *earliest)"),
    ("polder/ds/parts/ts_oldest.hpp", "what was taken between the scans does not count", "if (!seen && taken == 0)", "if (!seen)"),
    (TS_BUFFER, "taken twice", "      if (l.has(taken)) return false;\n", ""),
    (TS_BUFFER, "takers raise nothing", "    raised_.to(n->number.get());\n", ""),
    (TS_BUFFER, "the owner does not keep what it stamps", "    g.protect(own, made_);\n", ""),
    (TS_BUFFER, "unlinks below a node that is taken", "if (l.has(taken) || next == nullptr) return;", "if (next == nullptr) return;"),
    (TS_BUFFER, "unlinks what is inside", "      if (!beyond.has(taken)) return;\n", ""),
    (TS_SEARCH, "one scan is enough to say that all is empty", "if (!seen && puts == 0) return false;", "return false;"),
    (TS_SEARCH, "what was put and taken between the scans does not count", "if (!seen && puts == 0)", "if (!seen)"),
    (TS_SEARCH, "takes the earliest", "!earlier(*latest, *stamp)", "earlier(*latest, *stamp)"),
    (TS_SEARCH, "does not keep what it chose", "      g.hold(cell.buffer.chosen, n);\n", ""),
    (TS_SEARCH, "everything is taken at once", "const bool at_once = !stamp || stamp->over_after(now);", "const bool at_once = true;"),
]

RING_OF_TURNS = "polder/ds/queue/vyukov_ring.hpp"
BREAKS += [
    (RING_OF_TURNS, "two putters take one cell", "if (!tail_.cas(at, at + 1, order::relaxed, order::relaxed)) continue;", "tail_.store(at + 1, order::relaxed);"),
    (RING_OF_TURNS, "two getters take one cell", "if (!head_.cas(at, at + 1, order::relaxed, order::relaxed)) continue;", "head_.store(at + 1, order::relaxed);"),
    (RING_OF_TURNS, "filled before the element is there", "        c.element.put(std::move(e));\n        c.turn.store(at + 1, order::release);  // sync: ring-filled\n", "        c.turn.store(at + 1, order::release);\n        c.element.put(std::move(e));\n"),
]

RING_OF_TWO = "polder/ds/queue/spsc_ring.hpp"
BREAKS += [
    (RING_OF_TWO, "puts without a look at head", "if (room(tail, 1) == 0) return false;", ""),
    (RING_OF_TWO, "put before the element is there", "    cells_[tail & mask_].put(std::move(e));\n    put_.mine.store(tail + 1, order::release);  // sync: spsc-put\n", "    put_.mine.store(tail + 1, order::release);\n    cells_[tail & mask_].put(std::move(e));\n"),
    (RING_OF_TWO, "free before the element is taken", "    std::optional<kept> e(cells_[head & mask_].take());\n    get_.mine.store(head + 1, order::release);  // sync: spsc-get\n    return e;", "    get_.mine.store(head + 1, order::release);\n    return std::optional<kept>(cells_[head & mask_].take());"),
    (RING_OF_TWO, "room for one more", "return put_.seen + cells_.size() - tail;", "return put_.seen + cells_.size() + 1 - tail;"),
    (RING_OF_TWO, "many of which one is shown", "of.mine.store(from + done, order::release);", "of.mine.store(from + (done != 0), order::release);"),
]

INDICES = "polder/ds/parts/index_ring.hpp"
BREAKS += [
    (INDICES, "a get marks nothing unsafe", ": entry(cycle_of(now), false, index_of(now));", ": entry(cycle_of(now), true, index_of(now));"),
    (INDICES, "a put uses what is unsafe", "(is_safe(now) || head_.load(order::seq_cst) <= t)", "true"),
    (INDICES, "a get that comes first leaves no cycle", "index_of(now) == none() ? entry(cycle(t), is_safe(now), none())", "index_of(now) == none() ? now"),
    (INDICES, "a put does not set the threshold", "          misses_left_.store(most_misses_, order::seq_cst);", "          static_cast<void>(0);"),
    (INDICES, "gives up at once", "if (misses_left_.fetch_sub(1, order::seq_cst) <= 0) return none();", "return none();"),
    (INDICES, "takes by a store", "return index_of(e.fetch_or(none(), order::seq_cst));", "return e.store(entry(0, true, none()), order::seq_cst), index_of(now);"),
]

HELPED = "polder/ds/parts/helped_index_ring.hpp"
BREAKS += [
    (HELPED, "a get marks nothing unsafe", "entry(cycle_of(now), marks_of(now) & ~safe, index_of(now))", "entry(cycle_of(now), marks_of(now), index_of(now))"),
    (HELPED, "a put uses what is unsafe", "(is_safe(e) || head_.first(order::seq_cst) <= t)", "true"),
    (HELPED, "a get that comes first leaves no cycle", "is_none ? entry(cycle(t), marks_of(now), none())", "is_none ? now"),
    (HELPED, "a put with help does not set the threshold", "    Observer::at(helped_step::over);\n    allow_misses();", "    Observer::at(helped_step::over);"),
    (HELPED, "a late helper takes a claim that is not drawn", "if (counter.second(order::seq_cst) != now.second) continue;", ""),
    (HELPED, "the name goes before the claim", "        unclaim(of, double_value{t, which});", ""),
    (HELPED, "the name is not left", "if (counter.cas(now, double_value{next + 1, c.named()}", "if (counter.cas(now, double_value{next + 1, nobody}"),
    (HELPED, "takes what is unsettled", "    if (!is_settled(there)) settle(e, t);\n", ""),
    (HELPED, "settled before the request is over", "      end(call{*requests_.find(number(now.second & 0xffff)), now.second >> 16, 0}, t, ended);\n", ""),
    (HELPED, "draws for itself", "if ((t & claimed) == 0) return true;", "if ((t & claimed) == 0) return t = counter.add_first(1, order::seq_cst), true;"),
    (HELPED, "enters as if on the fast path", "double_value{entry(cycle(t), safe, i), c.named()}", "double_value{entry(cycle(t), settled | safe, i), now.second}"),
]

HELPED_LIST = "polder/ds/parts/helped_queue.hpp"
BREAKS += [
    (HELPED_LIST, "links what may be in", "        if (!pending(o.word.load(order::acquire))) return;                 // sync: wf-outcome\n", ""),
    (HELPED_LIST, "a put is done for a node that tail has passed", "      if (tail_.load(order::relaxed) != last) return;  // while it is, o is not retired\n", ""),
    (HELPED_LIST, "a put is done when tail has passed", "      o->word.fetch_or(done, order::release);          // sync: wf-outcome\n      Observer::at(slow_path::finished);\n",
     "      operation& of = *o;\n      node* const was = last;\n      tail_.cas(last, next, order::release, order::relaxed);\n      Observer::at(slow_path::finished);\n      return static_cast<void>(was), static_cast<void>(of.word.fetch_or(done, order::release));\n"),
    (HELPED_LIST, "a put returns before tail has passed", "      finish_enqueue(g);  // for tail\n", ""),
    (HELPED_LIST, "a get is done when head has left", "      o->word.fetch_or(done, order::release);  // sync: wf-outcome\n      Observer::at(slow_path::finished);\n",
     "      head_.cas(first, first->next.load(order::relaxed), order::release, order::relaxed);\n      Observer::at(slow_path::finished);\n      return static_cast<void>(o->word.fetch_or(done, order::release));\n"),
    (HELPED_LIST, "a get is done before it knows its head",
     "      o->claimed.store(first, order::relaxed);\n      o->word.fetch_or(done, order::release);  // sync: wf-outcome\n      Observer::at(slow_path::finished);\n",
     "      o->word.fetch_or(done, order::release);\n      Observer::at(slow_path::finished);\n      o->claimed.store(first, order::relaxed);\n"),
    (HELPED_LIST, "a get is done by a claim that head has left", "      if (head_.load(order::relaxed) != first) return;  // while it is, o is not retired\n", ""),
    (HELPED_LIST, "a get returns before head has left", "      finish_dequeue(g);  // for head\n", ""),
    (HELPED_LIST, "attempts are not counted", "o.word.fetch_add(attempt, order::acq_rel)", "o.word.fetch_add(0, order::acq_rel)"),
    (HELPED_LIST, "an attempt for what is done", "if (!pending(o.word.fetch_add(attempt, order::acq_rel))) return;", "o.word.fetch_add(attempt, order::acq_rel);"),
    (HELPED_LIST, "two claim one head", "      first->dequeuer.cas(nobody, &o, order::release, order::relaxed);  // sync: structure\n", "      static_cast<void>(nobody), first->dequeuer.store(&o, order::release);\n"),
    (HELPED_LIST, "empty without a look at tail", "if (pending(seen) && tail_.load(order::relaxed) == first)", "if (pending(seen))"),
    (HELPED_LIST, "empty whatever was attempted", "o.word.cas(seen, seen | empty, order::relaxed, order::relaxed);", "o.word.fetch_or(empty, order::relaxed);"),
    (HELPED_LIST, "head passes tail on the slow path",
     "      if (tail_.load(order::acquire) == first) {  // sync: wf-link\n        finish_enqueue(g);\n        continue;\n      }\n", ""),
    (HELPED_LIST, "head passes tail on the fast path",
     "    if (tail_.load(order::acquire) == first) {  // sync: wf-link\n      finish_enqueue(g);\n      return {false, nullptr};\n    }\n", ""),
    (HELPED_LIST, "who claims a head retires it", "    let_go(g, first);\n    let_go(g, next);\n", "    g.retire(first);\n"),
    (HELPED_LIST, "what is retired stays announced", "    mine.announced.store(nullptr, order::relaxed);\n", "    static_cast<void>(mine);\n"),
]

OWNED = "polder/ds/parts/owned_backends.hpp"
BREAKS += [
    (OWNED, "passed over by a store", "p.now.cas(as_seen, now.then(unlisted), order::release, order::relaxed)", "(p.now.store(now.then(unlisted), order::release), as_seen == now)"),
    (OWNED, "versions do not grow", "(version() + 1) << 2", "version() << 2"),
    (OWNED, "passed over while it is owned", "if (now.is() == left &&", "if (now.is() != unlisted &&"),
    (OWNED, "the state is read after the look", "      // If the step fails,", "      now = p.now.load(order::acquire);\n      // If the step fails,"),
    (OWNED, "owned again without a step", "if (now.is() == owned) [[likely]]", "if (now.is() != unlisted) [[likely]]"),
    (OWNED, "a late one is not looked for", "    while (highest < n && ", "    while (false && highest < n && "),
    (OWNED, "a row over another's", "if (rows_[r].cas(row, fresh.get(), order::release, order::acquire)) row = fresh.release();", "rows_[r].store(row = fresh.release(), order::release);"),
    (OWNED, "changes do not count", "    seen.backends += now.version();\n", ""),
]

LISTENER = "polder/malloc/listener.hpp"
BREAKS += [
    (LISTENER, "is changed where it lies", "    target* fresh = nullptr;\n    if (called != nullptr) {", "    target* fresh = called != nullptr ? const_cast<target*>(now()) : nullptr;\n    if (fresh != nullptr) {\n      fresh->called.set(called);\n      fresh->data.set(data);\n    } else if (called != nullptr) {"),
    (LISTENER, "is named before it is there", "      fresh = new (room) target{plain<Called*>(called), plain<void*>(data)};\n    }\n    now_.store(fresh, order::release);", "      now_.store(fresh = static_cast<target*>(room), order::release);\n      fresh = new (room) target{plain<Called*>(called), plain<void*>(data)};\n    }\n    now_.store(fresh, order::release);"),
]

BACKLOG, ITS_MODEL = "polder/smr/backlog.hpp", "polder/smr/backlog_model.cpp"
BREAKS += [
    (BACKLOG, "waits for less than was added", "const mark until = given();", "const mark until = given() - 1;"),
    (BACKLOG, "sleeps without a look", "    if (given() == seen) sleep(given_word(), seen);", "    static_cast<void>(seen), sleep(given_word(), given());"),
    (BACKLOG, "done is what is added now", "done_.store(up_to, order::release);", "static_cast<void>(up_to), done_.store(given(), order::release);"),
    (ITS_MODEL, "added before it is there", "    lock.lock(here());\n    waiting.set(waiting.get() | things);\n    if (end) stop.set(true);\n    work.add();\n", "    work.add();\n    lock.lock(here());\n    waiting.set(waiting.get() | things);\n    if (end) stop.set(true);\n"),
    (ITS_MODEL, "looks after the lock up to where", "      const backlog::mark seen = work.given();\n      const unsigned things = waiting.get();\n      waiting.set(0);\n      end = stop.get();\n      lock.unlock(here());\n", "      const unsigned things = waiting.get();\n      waiting.set(0);\n      end = stop.get();\n      lock.unlock(here());\n      const backlog::mark seen = work.given();\n"),
    (ITS_MODEL, "the waiter is not woken", "      waiter.wake_one();\n", ""),
    (ITS_MODEL, "the worker is not woken", "    worker.wake_one();\n", ""),
]

NUMBERS = "polder/smr/held_numbers.hpp"
BREAKS += [
    (NUMBERS, "taken though another has it", "if ((now & mask) == 0) return word", "return word"),
    (NUMBERS, "given by a store", "held_[n / bits].fetch_and(~(std::uint64_t{1} << n % bits), order::release);", "held_[n / bits].store(held_[n / bits].load(order::relaxed) & ~(std::uint64_t{1} << n % bits), order::release);"),
    (NUMBERS, "none is a number", "if (word == 0) now |= 1;  // number 0 is none", ""),
]

CLOSING = "polder/ds/parts/closing.hpp"
BREAKS += [
    (CLOSING, "does not wait for the puts under way", "s.puts.load(order::seq_cst) != 0 && wait()", "static_cast<void>(s), static_cast<void>(wait), false"),
    (CLOSING, "waits once", "while (s.puts", "if (s.puts"),
    ("polder/ds/parts/closing_model.cpp", "looks before it is under way", "    const polder::ds::closing::under_way here(end, 1);\n    if (end.closed()) return false;", "    if (end.closed()) return false;\n    const polder::ds::closing::under_way here(end, 1);"),
    ("polder/ds/parts/closing_model.cpp", "settles what is open", "seen[0] = end.closed() ? settled() : -1;", "seen[0] = settled();"),
]

COLLECTION = "polder/ds/parts/collection.hpp"
BREAKS += [
    ("polder/ds/parts/per_thread.hpp", "a row over another's", "return rows_[row].cas(there, made.get(), order::acq_rel, order::acquire) ? made.release() : there;", "return rows_[row].store(made.get(), order::release), static_cast<void>(there), made.release();"),
    ("polder/ds/parts/by_number.hpp", "a row over another's", "if (rows_[row].cas(there, made, order::release, order::acquire)) return made;", "if (rows_[row].store(made, order::release), true) return made;"),
    ("polder/ds/parts/by_number.hpp", "the highest by a store", "!highest_.cas(highest, mine, order::release, order::relaxed)", "(highest_.store(mine, order::release), false)"),
    ("polder/ds/parts/numbered.hpp", "a page over another's", "if (place.cas(p, made, order::acq_rel, order::acquire)) p = made;", "if (place.store(made, order::release), true) p = made;"),
    ("polder/ds/parts/balancer/least_recently_used.hpp", "left by a store", "round_.cas(round, round + 1, order::release, order::relaxed);", "round_.store(round + 1, order::release);"),
    (COLLECTION, "given outside the lock", "    const holding l(lock_);\n    b->next", "    b->next"),
    (COLLECTION, "taken outside the lock", "    const holding l(lock_);\n    box<T>* const b", "    box<T>* const b"),
    (COLLECTION, "no look at what came back", "if (box<T>* const b = returned_.take()) return opened(b);", ""),
    (COLLECTION, "empty after one look", "if (returned_.gifts() == before) return std::nullopt;", "return static_cast<void>(before), std::nullopt;"),
    (COLLECTION, "what refuses is not given back", "if (b != nullptr) of.returned_.give(b);", "delete b;"),
]

SLEEPERS = "polder/ds/parts/sleepers.hpp"
BREAKS += [
    (SLEEPERS, "no fence before the look for who waits", "    fence(order::seq_cst);\n    if", "    if"),
    (SLEEPERS, "no fence before the look for the thing", "    fence(order::seq_cst);\n    return", "    return"),
    (SLEEPERS, "an event that is not counted", "    event_.fetch_add(1, order::relaxed);\n", ""),
    (SLEEPERS, "nobody is woken", "    wake(word());", "    (void)wake;"),
    (SLEEPERS, "waits unseen", "    waiting_.fetch_add(1, order::relaxed);\n", ""),
]

BREAKS += [
    ("polder/ds/queue/mpsc_list.hpp", "an exchange in two steps", "last_.exchange(n, order::acq_rel);", "last_.load(order::acquire); last_.store(n, order::release);"),
    ("polder/ds/queue/mpsc_list.hpp", "linked before the exchange", "before->next.store(n, order::release);", "static_cast<void>(before);"),
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

LIST_OF_CELLS = "polder/ds/queue/faa_queue.hpp"
BREAKS += [
    (LIST_OF_CELLS, "empty whatever was put", "!first->line.is_filled(gets) && first->puts.load(order::relaxed) <= gets", "!first->line.is_filled(gets)"),
    (LIST_OF_CELLS, "leaves by a claim, which acquires nothing", "        continue;  // who leaves", "        if (at < cells) continue;  // who leaves"),
    (LIST_OF_CELLS, "does not take back what it could not link", "        made->line.take_to(0, e);\n", ""),
    (LIST_OF_CELLS, "a spoiled cell is taken for put", "if (last->line.fill(at, e, fences_)) return true;", "static_cast<void>(last->line.fill(at, e, fences_));\n        return true;"),
    (LIST_OF_CELLS, "head passes tail", "if (tail_.load(order::relaxed) == first) swing(first, next);", ""),
    (LIST_OF_CELLS, "retires the segment that it moved to", "g.retire(first);", "g.retire(next);"),
    (LIST_OF_CELLS, "links by a store", "last->next.cas(next, made, order::release, order::acquire)", "(last->next.store(made, order::release), true)"),
    (LIST_OF_CELLS, "head moves by a store", "if (head_.cas(first, next, order::acq_rel, order::relaxed)) g.retire(first);", "head_.store(next, order::release);\n      g.retire(first);"),
]

LIST_OF_RINGS = "polder/ds/queue/lcrq.hpp"
BREAKS += [
    (LIST_OF_RINGS, "no second look at a ring that was empty", "      if (std::optional<kept> e = first->tickets.take()) return e;\n      // Head", "      // Head"),
    (LIST_OF_RINGS, "head passes tail", "if (tail_.load(order::relaxed) == first) swing(first, next);", ""),
    (LIST_OF_RINGS, "retires the ring that it moved to", "g.retire(first);", "g.retire(next);"),
    (LIST_OF_RINGS, "links by a store", "last->next.cas(next, made, order::release, order::acquire)", "(last->next.store(made, order::release), true)"),
    (LIST_OF_RINGS, "head moves by a store", "if (head_.cas(first, next, order::acq_rel, order::relaxed)) g.retire(first);", "head_.store(next, order::release);\n      g.retire(first);"),
]

TICKETS = "polder/ds/queue/rts_queue.hpp"
BREAKS += [
    (TICKETS, "a ticket that there is no stamp for", "if (ticket == stamps_.load(order::acquire)) return std::nullopt;", ""),
    (TICKETS, "two have the same ticket", "!tickets_.cas(ticket, ticket + 1, order::release, order::acquire)", "(tickets_.store(ticket + 1, order::release), false)"),
    (TICKETS, "stamped before it is linked", "    node* const n = buffers_.mine().put(g, e);             // stays readable: it is the last of its buffer\n    n->stamp.set({stamps_.fetch_add(1, order::release)});", "    const point drawn{stamps_.fetch_add(1, order::release)};\n    buffers_.mine().put(g, e)->stamp.set(drawn);"),
    (TICKETS, "takes the latest", "!earlier(*stamp, *earliest)", "earlier(*stamp, *earliest)"),
    (TICKETS, "whatever it sees is early enough", "return stamp && stamp->at <= ticket;", "return true;"),
    (TICKETS, "retires the node that it took", "g.retire(best.before);", "g.retire(best.first);"),
]

PICKS = "polder/ds/queue/random_dequeue_queue.hpp"
BREAKS += [
    (PICKS, "taken twice", "if (!f.at->taken.cas(was, true, order::acq_rel, order::relaxed)) continue;", "f.at->taken.store(!was, order::release);"),
    (PICKS, "goes on from what head has left", "      if (head_.load(order::acquire) != first) return {nullptr, true};  // sync: queue-leave\n", ""),
    (PICKS, "does not keep its pick", "        g.hold(at_pick, n);\n", ""),
    (PICKS, "empty behind what it passed", "if (n == nullptr) return {seen, false};", "if (n == nullptr) return {nullptr, false};"),
    (PICKS, "takes one too far", "if (far != 0) --far;", "if (far != 0 && seen == nullptr) --far;"),
    (PICKS, "head passes what is not taken", "if (next == nullptr || !next->taken.load(order::acquire)) return;", "if (next == nullptr) return;"),
    (PICKS, "head passes tail", "if (tail_.load(order::relaxed) == first) swing(first, next);", ""),
    (PICKS, "head moves by a store", "if (!head_.cas(expected, next, order::acq_rel, order::relaxed)) return;", "static_cast<void>(expected), head_.store(next, order::release);"),
    (PICKS, "does not keep the new head", "      g.hold(at_head, next);\n", ""),
    (PICKS, "the new sentinel is retired", "g.retire(first);", "g.retire(next);"),
]

LANES = "polder/ds/queue/per_producer_queue.hpp"
BREAKS += [
    (LANES, "filled before the element is there", "    l.last->line[used].put(std::move(e));\n    l.filled.store(filled + 1, order::release);  // sync: lane-fill\n", "    l.filled.store(filled + 1, order::release);\n    l.last->line[used].put(std::move(e));\n"),
    (LANES, "claimed by a store", "!s->claimed.cas(at, at + some, order::release, order::relaxed)", "(s->claimed.store(at + some, order::relaxed), false)"),
    (LANES, "goes on to where nothing is filled", "<= s->before + cells) {  // sync: lane-fill", "< s->before + cells) {"),
    (LANES, "the lane moves on by a store", "if (l.first.cas(s, next, order::release, order::relaxed)) g.retire(s);", "l.first.store(next, order::release);\n      g.retire(s);"),
    (LANES, "retires the segment that it moved to", "g.retire(s);", "g.retire(next);"),
    (LANES, "listed by a store", "while (!lanes_.cas(l->next, l, order::release, order::relaxed)) {", "for (lanes_.store(l, order::release); false;) {"),
]

COMBINING, SLOT = "polder/ds/parts/combining.hpp", "polder/ds/parts/meeting_slot.hpp"
BREAKS += [
    (COMBINING, "listed over and over", "if (!mine.listed.load(order::acquire)) enlist(mine);", "enlist(mine);"),
    (COMBINING, "who combines does not answer itself", "if (mine.asks.load(order::relaxed) != request::none) answer(mine);", ""),
    (COMBINING, "out of the list before its link was read", "        before->next.set(r->next.get());\n        r->listed.store(false, order::release);  // sync: combining-unlisted\n", "        r->listed.store(false, order::release);\n        before->next.set(r->next.get());\n"),
    (COMBINING, "two combine", "!locked_.load(order::relaxed) && !locked_.exchange(true, order::acquire)", "!locked_.load(order::relaxed) && (locked_.store(true, order::relaxed), true)"),
    (SLOT, "meets by a store", "return now_.cas(now, word(n), order::release, order::relaxed);", "return now_.load(order::relaxed) == now && (now_.store(word(n), order::release), true);"),
    (SLOT, "leaves by a store", "if (now_.cas(now, word(), order::acquire, order::acquire)) return nullptr;", "if (now_.load(order::acquire) == now) return now_.store(word(), order::relaxed), nullptr;"),
    (SLOT, "leaves what it got", "    now_.store(word(), order::relaxed);\n", ""),
]

BLOCKS = "polder/ds/pool/block_list.hpp"
BREAKS += [
    (BLOCKS, "taken twice", "if ((first->taken.fetch_or(bit, order::acq_rel) & bit) == 0) {", "first->taken.fetch_or(bit, order::acq_rel);\n        {"),
    (BLOCKS, "leaves a block with room", "n == block::size ? g.protect(1, first->next) : nullptr", "g.protect(1, first->next)"),
    (BLOCKS, "filled before the element is there", "    b->elements[n].put(std::move(e));\n    b->filled.store(n + 1, order::release);  // sync: bag-put\n", "    b->filled.store(n + 1, order::release);\n    b->elements[n].put(std::move(e));\n"),
    (BLOCKS, "counts its block alone", "seen = first->before.get() + n;", "seen = n;"),
]

RING_OF_SEGMENTS = "polder/ds/queue/segment_ring.hpp"
BREAKS += [
    (RING_OF_SEGMENTS, "empty after one look", "if (still.at == nullptr && still.turns == seen.turns) return std::nullopt;", "return std::nullopt;"),
    (RING_OF_SEGMENTS, "leaves a segment with room", "} else if (seen.free == 0) {", "} else {"),
    (RING_OF_SEGMENTS, "tail passes head", "if (t + 1 == h + segments_ && !pass(h)) return false;", "if (false && !pass(h)) return false;"),
    (RING_OF_SEGMENTS, "full though head may move on", "    leave(h);\n    return true;", "    return false;"),
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

TENDING = "polder/heap/polder/tending.hpp"
BREAKS += [
    (TENDING, "leaves though it was asked", "return state_.cas(seen, state::untended, order::relaxed, order::relaxed);", "return static_cast<void>(seen), leave_at_once(), true;"),
    (TENDING, "asked by a store", "if (state_.cas(now, state::asked, order::release, order::relaxed)) return", "return state_.store(state::asked, order::release),"),
    (TENDING, "forgets who came meanwhile", "\n    state_.cas(seen, state::untended, order::relaxed, order::relaxed);", "\n    static_cast<void>(seen), leave_at_once();"),
    (TENDING, "two come", "return state_.cas(seen, state::tended, order::relaxed, order::relaxed);", "return state_.load(order::relaxed) == seen && (state_.store(state::tended, order::relaxed), true);"),
    (TENDING, "looks in two steps", "return state_.exchange(state::tended, order::acquire) == state::asked;", "const state was = state_.load(order::acquire);\n    return state_.store(state::tended, order::relaxed), was == state::asked;"),
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
STORED_ANEW = ("survives: what is found is only stored to before it is looked at again, and the model checker takes stores as they are "
               "executed, the one that makes the place first")
AFTER_OWN_CAS = ("survives: Relacy lets a thread's store go on with the release sequence that its CAS went on with; by the standard it ends "
                 "there, and with it what the thread before had done")
AFTER_ACQUIRING = "survives, and may: it only looks whether a link has changed since loads before it, which acquire"
COVERED = "survives, and may: the seq_cst fence that follows is an acquire fence; the order is there for the reader"
HELD = "survives: who left that behind is still inside and keeps the node; it takes regions that end while others last"
THIRD_THREADS = ("survives: the looks of a thread that did not pass the barrier itself. The model's light fence orders them in one "
                 "world, its barrier in the other; what the kernel and the processor have does neither")
COME_AND_GONE = ("survives: needed by the empty answer when a segment came and went above the bottom one, while a put into that and a take "
                 "from it stalled: who removed it has seen the put, and who sees the bottom on top again must not miss it in the "
                 "second look. More threads than a model takes")
ONE_ORDER = ("survives, and so it does when all that have this reason are weakened at once: the argument for the threshold counts "
             "steps of all threads in one order, which takes more misses than a model takes")
COVERED_ALONE = ("survives alone: other seq_cst steps of the same call cover it. Weakened together with all that have the reason "
                 "above, it dies")
HELPED_ALONE = "survives alone, as most of index_ring's do; it was not weakened together with others"
HELPED_ORDER = ("survives, and so it does when all from `take` on that survive are weakened at once, but those that say "
                "otherwise: as index_ring's, which the threshold's argument needs")
HELPED_NEEDED = "survives alone: other steps of the same call cover it. Weakened together with all after it that survive, it dies"
HALVES = "survives: the model checker reads both halves of a word from one history, see double_word_model.hpp"
HANDED_ON = "survives: what it hands on is seen through the seq_cst words too, which all who use it have read or changed"
LET_GO = ("survives: it orders the last uses of a node before it is freed, and freeing is for the model checker no access to the "
          "node's words")
ERAS_ALONE = ("survives: who makes a pending operation done keeps it by its own slot or region until tail, or head, has moved. Only under "
              "eras must the caller know that before it retires it, and there two others must stand still in turn")
KNOWN_BY_VALUE = ("survives, and may: the map's value, which is stored before and found first, brings what was written of the record; who "
                  "has the address of a block that was known before has it by an order of its own")
TABLES = "survives, and may: an opener's own call, for the grains, comes after the one that committed the tables, in the kernel's order"
OPENERS = "survives, and may: an opener commits what it opens itself, and reads the count again before it touches anything else"
EPOCH, GATE = "polder/smr/epoch/epoch_clock.hpp", "polder/smr/seat_gate.hpp"
RING = "polder/smr/epoch/token_ring.hpp"
EARLIER_LOADS = "keeps the loads of who empties a slot before the stores of who takes it next: the checker does no load later than it stands"
FENCE_ACQUIRES = "survives, and may: the heavy fence that follows is an acquire fence; the order is there for the reader"

NEW_NUMBER = ("survives: a place of a number whose maker has not taken all of them yet could be had only if the store of base, which "
              "that maker does afterwards, were seen before; the model checker takes stores as they are executed")
SURVIVES = {
    ("polder/mem/guarded_slot.hpp", "give_up, order 1: release -> relaxed"): AFTER_OWN_CAS,
    ("polder/mem/sampled_blocks.hpp", "for_each, order 2: acquire -> relaxed"): EARLIER_LOADS,
    ("polder/mem/sampled_blocks.hpp", "for_each, order 4: release -> relaxed"): EARLIER_LOADS,
    ("polder/ds/parts/claimed_cells.hpp", "claimed_cells, order 5: release -> relaxed"): "the fence before it releases as well",
    (EPOCH, ", order 2: release -> relaxed"): RELEASE_SEQUENCE,
    (EPOCH, ", order 3: release -> relaxed"): RELEASE_SEQUENCE,
    (EPOCH, "fenced, order 1: acquire -> relaxed"): THIRD_THREADS,
    (EPOCH, "before_sweep, order 1: release -> relaxed"): THIRD_THREADS,
    (RING, ", order 3: release -> relaxed"): RELEASE_SEQUENCE,
    (RING, ", order 4: release -> relaxed"): RELEASE_SEQUENCE,
    ("polder/smr/membership.hpp", "forget, order 3: acquire -> relaxed"): STORED_ANEW,
    ("polder/smr/membership.hpp", "forget, order 5: acquire -> relaxed"): STORED_ANEW,
    ("polder/smr/presence.hpp", "vacate, order 1: release -> relaxed"): RELEASE_SEQUENCE,
    (GATE, "try_own, order 1: acquire -> relaxed"):
        "survives, and may: still_mine() reads the same word again before the bags are touched; the order is there for the reader",
    (GATE, "walk_away, order 1: release -> relaxed"):
        "survives, and may: who walks away has left, which released; it has touched nothing since",
    (GATE, "try_claim, order 1: acquire -> relaxed"):
        "survives, and may: the heavy fence that follows is an acquire fence; the order is there for the reader",
    (SLOT, "wait, order 1: acquire -> relaxed"):
        "survives, and may: who leaves has met nobody; compilers want no failure order above the success's",
    (ELIMINATION, "give, order 4: acquire -> relaxed"):
        "survives, and may: who withdraws has got nothing; compilers want no failure order above the success's",
    (SEGMENTS, "head passes tail"): HELD,
    (SEGMENTS, "get, order 3: acq_rel -> relaxed"): HELD,
    ("polder/ds/stack/counted_stack.hpp", "remove_after, order 1: acquire -> relaxed"): AFTER_ACQUIRING,
    (LANE, "linked from the old end first"): HELD,
    ("polder/ds/parts/ts_queue_buffer.hpp", "oldest, order 1: acquire -> relaxed"): AFTER_ACQUIRING,
    (BLOCKS, "remove, order 4: acquire -> relaxed"): AFTER_ACQUIRING,
    (LANES, "with_mine, order 2: release -> relaxed"):
        "survives, and may: who goes on has seen an element behind the link; the order is for the child of a fork, which may find the link alone",
    (LANES, "with_mine, order 4: acquire -> relaxed"): AFTER_ACQUIRING,
    (LANES, "with_mine, order 11: acquire -> relaxed"):
        "survives, and may: who goes on has seen an element behind the link, which was put after it; the order is there for the reader",
    (PICKS, "pick, order 1: acquire -> relaxed"): AFTER_ACQUIRING,
    (PICKS, "pass_taken, order 1: acquire -> relaxed"): AFTER_ACQUIRING,
    (LANE, "unlink, order 1: acquire -> relaxed"):
        "survives: what is made of the node is stored anew then, and the model checker takes stores as they are executed",
    (LIST, ", order 3: acq_rel -> relaxed"):
        "survives: list-mark is for the caller, who finds the key gone; the list itself needs the link's edge alone",
    (LIST, ", order 5: acquire -> relaxed"): AT_REST,
    (LIST, ", order 6: acquire -> relaxed"): AT_REST,
    (SKIPS, "skip_list, order 1: acquire -> relaxed"): AT_REST,
    (SKIPS, "skip_list, order 2: acquire -> relaxed"): AT_REST,
    (SKIPS, "for_each_quiescent, order 1: acquire -> relaxed"): AT_REST,
    (SKIPS, "for_each_quiescent, order 2: acquire -> relaxed"): AT_REST,
    (LIST, ", order 7: acquire -> relaxed"): AT_REST,
    (LIST, ", order 8: acquire -> relaxed"): AT_REST,
    (BST, "ellen_bst, order 1: acquire -> relaxed"): AT_REST,
    (BST, "ellen_bst, order 2: acquire -> relaxed"): AT_REST,
    (BST, "ellen_bst, order 3: acquire -> relaxed"): AT_REST,
    (BST, "ellen_bst, order 4: acquire -> relaxed"): AT_REST,
    (BST, "for_each_quiescent, order 1: acquire -> relaxed"): AT_REST,
    (BST, "for_each_quiescent, order 2: acquire -> relaxed"): AT_REST,
    (BST, "validate, order 1: acquire -> relaxed"): AT_REST,
    (BST, "validate, order 2: acquire -> relaxed"): AT_REST,
    (BST, "validate, order 3: acquire -> relaxed"): AT_REST,
    ("polder/mem/anchor.hpp", "take_all, order 2: acquire -> relaxed"):
        "survives, and may: what is compared was acquired when it was read; compilers want no failure order above it",
    ("polder/mem/record_table.hpp", ", order 1: acquire -> relaxed"):
        "survives, and may: who has a number has it from add() or made(), or by an order of its own, after its table",
    (HUGE, ", order 1: release -> relaxed"): KNOWN_BY_VALUE,
    (HUGE, ", order 2: acquire -> relaxed"): KNOWN_BY_VALUE,
    (HUGE, ", order 7: release -> relaxed"): KNOWN_BY_VALUE,
    (HUGE, ", order 4: acquire -> relaxed"): "survives: it is for messages about mistakes, and no model makes any",
    (HUGE, ", order 5: acq_rel -> relaxed"): "survives, and may: who gives a block has found it, which acquired; of two, one is told by the CAS",
    (ARENA, ", order 1: acquire -> relaxed"): TABLES,
    (ARENA, ", order 2: acq_rel -> relaxed"): TABLES,
    (ARENA, ", order 3: acquire -> relaxed"): TABLES,
    (ARENA, ", order 4: acquire -> relaxed"): OPENERS,
    (ARENA, ", order 5: acquire -> relaxed"): OPENERS,
    (ARENA, ", order 7: acquire -> relaxed"): OPENERS,
    (ARENA, ", order 8: acquire -> relaxed"): OPENERS,
    (ARENA, ", order 10: acquire -> relaxed"): OPENERS,
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
    (MICHAEL, "update_active, order 6: acquire -> relaxed"):
        "survives, and may: what is popped was acquired when the anchor was read; compilers want no failure order above it",
    (SEGMENT_STACK, "get, order 2: acquire -> relaxed"): COME_AND_GONE,
    (SEGMENT_STACK, "get, order 3: acq_rel -> relaxed"): COME_AND_GONE,
    (SEGMENT_STACK, "takes from under another"):
        "survives, and may: a pop that read top takes effect then; the look is the paper's, and says when plainly",
    ("polder/sync/index_stack.hpp", "pop, order 2: acquire -> relaxed"):
        "survives, and may: a successful pop needs no order (see head_), compilers want one above the failure's",
    ("polder/smr/era/era_clock.hpp", "read, order 2: release -> relaxed"): RELEASE_SEQUENCE,
    ("polder/smr/era/era_clock.hpp", "cover, order 1: release -> relaxed"):
        "survives: for the span before, whose end it overwrites; as above, of C++11's release sequences",
    (TREE, "for_each_quiescent, order 1: acquire -> relaxed"): AT_REST,
    (TREE, "validate, order 1: acquire -> relaxed"): AT_REST,
    (TREE, "collect, order 1: acquire -> relaxed"): AT_REST,
    (TREE, "collect, order 2: acquire -> relaxed"): AT_REST,
    (TREE, "step, order 2: acquire -> relaxed"):
        "survives, and may: what is frozen was acquired when it was read; compilers want no failure order above it",
    (REQUEST, "help, order 2: acquire -> relaxed"): COVERED,
    (REQUEST, "help, order 3: acquire -> relaxed"): COVERED,
    (REQUEST, "help, order 4: acquire -> relaxed"): COVERED,
    (REQUEST, "help, order 5: acquire -> relaxed"): COVERED,
    (HYPER, ", order 2: acquire -> relaxed"): NEW_NUMBER,
    (HYPER, ", order 8: acquire -> relaxed"): NEW_NUMBER,
    ("polder/ds/queue/mpsc_list.hpp", "insert, order 1: acq_rel -> relaxed"):
        "survives: the null of the node before is stored when it is made, and the model checker takes stores as they are executed",
    (OWNED, "changes do not count"):
        "survives: the numbers change too when a backend comes or goes, unless another's has grown by as much as that one's was: "
        "that takes six turns between who gets and who puts",
    (HELPED_LIST, "taken, order 1: acq_rel -> relaxed"): LET_GO,
    (HELPED_LIST, "help_enqueue, order 1: acquire -> relaxed"): ERAS_ALONE,
    (HELPED_LIST, "help_enqueue, order 2: acquire -> relaxed"): ERAS_ALONE,
    (HELPED_LIST, "finish_enqueue, order 1: release -> relaxed"): ERAS_ALONE,
    (HELPED_LIST, "a put returns before tail has passed"): ERAS_ALONE,
    (HELPED_LIST, "a get returns before head has left"): ERAS_ALONE,
    (HELPED, "a late helper takes a claim that is not drawn"):
        "survives: a request must draw twice, and two who then have the same ticket must read its entry before one of them takes",
    (INDICES, "put, order 1: seq_cst -> relaxed"): ONE_ORDER,
    (INDICES, "put, order 2: seq_cst -> relaxed"): ONE_ORDER,
    (INDICES, "put, order 3: seq_cst -> relaxed"): ONE_ORDER,
    (INDICES, "put, order 5: seq_cst -> relaxed"): ONE_ORDER,
    (INDICES, "put, order 6: seq_cst -> relaxed"): ONE_ORDER,
    (INDICES, "get, order 2: seq_cst -> relaxed"): ONE_ORDER,
    (INDICES, "get, order 3: seq_cst -> relaxed"): ONE_ORDER,
    (INDICES, "get, order 4: seq_cst -> relaxed"): ONE_ORDER,
    (INDICES, "is_empty, order 2: seq_cst -> relaxed"): ONE_ORDER,
    (INDICES, "is_empty, order 3: seq_cst -> relaxed"): ONE_ORDER,
    (INDICES, "at, order 1: seq_cst -> relaxed"): ONE_ORDER,
    (INDICES, "at, order 3: seq_cst -> relaxed"): ONE_ORDER,
    (INDICES, "at, order 4: seq_cst -> relaxed"): ONE_ORDER,
    (INDICES, "catch_up, order 1: seq_cst -> relaxed"): ONE_ORDER,
    (INDICES, "catch_up, order 2: seq_cst -> relaxed"): ONE_ORDER,
    (INDICES, "catch_up, order 3: seq_cst -> relaxed"): ONE_ORDER,
    (INDICES, "put, order 7: seq_cst -> relaxed"): COVERED_ALONE,
    (INDICES, "get, order 1: seq_cst -> relaxed"): COVERED_ALONE,
    (INDICES, "is_empty, order 1: seq_cst -> relaxed"): COVERED_ALONE,
    (INDICES, "at, order 2: seq_cst -> relaxed"): COVERED_ALONE,
    (HELPED, "get, order 1: acquire -> relaxed"): HANDED_ON,
    (HELPED, "get, order 2: seq_cst -> relaxed"): HELPED_ALONE,
    (HELPED, "try_put, order 1: seq_cst -> relaxed"): HELPED_ALONE,
    (HELPED, "try_put, order 2: seq_cst -> relaxed"): HELPED_ALONE,
    (HELPED, "try_put, order 4: seq_cst -> relaxed"): HELPED_ALONE,
    (HELPED, "try_get, order 1: seq_cst -> relaxed"): HELPED_ALONE,
    (HELPED, "try_get, order 2: seq_cst -> relaxed"): HELPED_ALONE,
    (HELPED, "is_free, order 1: seq_cst -> relaxed"): HELPED_ALONE,
    (HELPED, "allow_misses, order 1: seq_cst -> relaxed"): HELPED_ALONE,
    (HELPED, "allow_misses, order 2: seq_cst -> relaxed"): HELPED_ALONE,
    (HELPED, "is_empty, order 1: seq_cst -> relaxed"): HELPED_ALONE,
    (HELPED, "is_empty, order 2: seq_cst -> relaxed"): HELPED_ALONE,
    (HELPED, "is_empty, order 3: seq_cst -> relaxed"): HELPED_ALONE,
    (HELPED, "reach, order 1: seq_cst -> relaxed"): HELPED_NEEDED,
    (HELPED, "reach, order 2: seq_cst -> relaxed"): HELPED_NEEDED,
    (HELPED, "reach, order 3: seq_cst -> relaxed"): HELPED_NEEDED,
    (HELPED, "take, order 1: seq_cst -> relaxed"): HELPED_ORDER,
    (HELPED, "passes_tail, order 1: seq_cst -> relaxed"): HELPED_ORDER,
    (HELPED, "passes_tail, order 2: seq_cst -> relaxed"): HELPED_ORDER,
    (HELPED, "passes_tail, order 3: seq_cst -> relaxed"): HELPED_ORDER,
    (HELPED, "announce, order 1: release -> relaxed"): HANDED_ON,
    (HELPED, "help_another, order 1: acquire -> relaxed"): HELPED_NEEDED,
    (HELPED, "help_another, order 2: acquire -> relaxed"): HANDED_ON,
    (HELPED, "help_another, order 3: acquire -> relaxed"): HANDED_ON,
    (HELPED, "get_for, order 1: seq_cst -> relaxed"): HELPED_ORDER,
    (HELPED, "get_for, order 2: seq_cst -> relaxed"): HELPED_ORDER,
    (HELPED, "end, order 1: acq_rel -> relaxed"): HANDED_ON,
    (HELPED, "draw, order 1: acq_rel -> relaxed"): HANDED_ON,
    (HELPED, "draw, order 2: acquire -> relaxed"): HANDED_ON,
    (HELPED, "draw, order 3: seq_cst -> relaxed"): HELPED_ORDER,
    (HELPED, "without_name, order 1: seq_cst -> relaxed"): HELPED_NEEDED,
    (HELPED, "without_name, order 2: seq_cst -> relaxed"): HALVES,
    (HELPED, "without_name, order 3: acquire -> relaxed"): HANDED_ON,
    (HELPED, "without_name, order 4: acquire -> relaxed"): HANDED_ON,
    (HELPED, "without_name, order 5: seq_cst -> relaxed"): HELPED_ORDER,
    (HELPED, "without_name, order 6: seq_cst -> relaxed"): HELPED_ORDER,
    (HELPED, "unclaim, order 1: acq_rel -> relaxed"): HANDED_ON,
    (HELPED, "enter, order 1: seq_cst -> relaxed"): HELPED_ORDER,
    (HELPED, "enter, order 2: seq_cst -> relaxed"): HALVES,
    (HELPED, "enter, order 3: seq_cst -> relaxed"): HALVES,
    (HELPED, "settle, order 2: seq_cst -> relaxed"): HALVES,
    (HELPED, "settle, order 3: seq_cst -> relaxed"): HALVES,
    ("polder/sync/lab_state.hpp", "try_claim, order 1: acquire -> relaxed"): FENCE_ACQUIRES,
    ("polder/sync/lab_state.hpp", "try_claim, order 2: acquire -> relaxed"): FENCE_ACQUIRES,
    ("polder/sync/lab_state.hpp", "come_in, order 2: release -> relaxed"):
        "the model's stores to one word are in the order in which they happen; else a claimer's closing could come before this opening",
}

# protocol file -> the edges that its model is about; of other files every order is weakened
EDGES = {
    "polder/ds/tree/occ_avl.hpp": ["avl-hand-over"],
}

ORDER = re.compile(r"order::(acquire|release|acq_rel|seq_cst)")


def code_of(line):
    return line.split("//", 1)[0]


def weakening(file, lines, number, found):
    """What POLDER_MODEL_WEAKEN says of this order, if the call that it belongs to is on its line."""
    before = code_of(lines[number])[: found.start()]
    call = max(before.rfind(c) for c in (".load(", ".store(", ".exchange(", ".cas(", ".fetch_", "fence("))
    which = before[call:].count("order::") if before[call:].startswith(".cas(") else 0
    order = ("relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst").index(found[1])
    return f"{SOURCE / file}:{number + 1}:{order}:{which}" if call >= 0 else ""


def mutants(file):
    """Yields (name, text, weakening) for one protocol file."""
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
            if file in EDGES and not any(edge in line for edge in EDGES[file]):
                continue
            name = f"{function}, order {nth[function]}: {found[1]} -> relaxed (line {number + 1})"
            yield name, "\n".join(lines[:number] + [weak] + lines[number + 1:]), weakening(file, lines, number, found)
    for subject, name, old, new in BREAKS:
        if subject == file:
            if text.count(old) != 1:
                sys.exit(f"mutants.py: '{name}' no longer fits {file}")
            yield name, text.replace(old, new), ""


# What every model includes, and no mutant changes; compiled once. Little optimized: models run as long as they compile.
PRELUDE = ["#include <polder/sync/atomic.hpp>", "#include <explore.hpp>"]
FLAGS = ["-std=c++20", "-O1", "-w", "-DPOLDER_MODEL", f"-I{SOURCE}", f"-I{ROOT / 'test/model'}"]


def prelude(compiler, folder):
    """The header, and the explorer that each model is linked with."""
    header, explorer = Path(folder) / "prelude.hpp", Path(folder) / "explorer.o"
    header.write_text("\n".join(PRELUDE) + "\n")
    subprocess.run([compiler, *FLAGS, "-x", "c++-header", header, "-o", f"{header}.gch"], check=True)
    subprocess.run([compiler, *FLAGS, "-c", ROOT / "test/model/explorer.cpp", "-o", explorer], check=True)
    return header, explorer


class models:
    """The models as they are, each compiled when it is first needed."""

    def __init__(self, compiler, folder, explorer):
        self.compiler, self.folder, self.explorer, self.made, self.lock = compiler, Path(folder), explorer, {}, threading.Lock()

    def program(self, model):
        with self.lock:
            mine = self.made.setdefault(model, threading.Lock())
        with mine:
            program = self.folder / model.replace("/", ".")
            if not program.exists():
                subprocess.run([self.compiler, *FLAGS, SOURCE / model, self.explorer, "-o", program], check=True)
            return program


def reason(file, name):
    """Why a mutant may survive, or None."""
    return SURVIVES.get((file, name.split(" (")[0]))


def noticed(program, deep, weak=""):
    """What a model says that fails, else None; and whether it came by the order that `weak` names. `deep`: all its searches."""
    try:
        ran = subprocess.run([program], capture_output=True, text=True, errors="replace", timeout=600,
                             env=os.environ | ({"POLDER_TEST_FULL": "1"} if deep else {}) | ({"POLDER_MODEL_WEAKEN": weak} if weak else {}))
    except subprocess.TimeoutExpired:
        return "does not end", True
    met = "weakened" in ran.stderr
    if ran.returncode != 0:
        for line in ran.stdout.split("\n"):
            if "VIOLATION: " in line:
                title = line.split("  ")[0].removeprefix("model ")
                return f"{line.split('VIOLATION: ')[1]} in '{title}'", met
        return f"status {ran.returncode}", met
    return None, met


def run(compiler, header, explorer, whole, file, name, text, weak):
    """Runs the models of one mutant; returns what the first one to notice printed, or None."""
    # Who may survive is looked for as this form of the tests looks, all others as far as any does.
    deep = reason(file, name) is None
    if weak:
        met = False
        for model in SUBJECTS[file]:
            what, here = noticed(whole.program(model), deep, weak)
            met |= here
            if what and here:
                return what
        if met:
            return None
    with tempfile.TemporaryDirectory() as folder:
        mutated = Path(folder) / file
        mutated.parent.mkdir(parents=True)
        mutated.write_text(text)
        for model in SUBJECTS[file]:
            program = Path(folder) / "model"
            built = subprocess.run(
                [compiler, "-include", header, f"-I{folder}", *FLAGS, mutated if model == file else SOURCE / model, explorer,
                 "-o", program],
                capture_output=True, text=True)
            if built.returncode != 0:
                sys.exit(f"mutants.py: {file}: {name} does not compile:\n{built.stderr}")
            if what := noticed(program, deep)[0]:
                return what
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", action="append", help="mutants whose 'file: name' contains this, or that of another --only")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--share", type=int, default=1, metavar="N", help="one in N of them, other ones each time")
    parser.add_argument("--full-share", type=int, metavar="N", help="the same in the full form, where POLDER_TEST_FULL is 1")
    parser.add_argument("--first", type=int, help="with --share: which of them comes first, as a run before has said")
    arguments = parser.parse_args()
    if arguments.full_share and os.environ.get("POLDER_TEST_FULL") == "1":
        arguments.share = arguments.full_share

    every = [(file, *mutant) for file in SUBJECTS for mutant in mutants(file)]
    known = {(file, name.split(" (")[0]) for file, name, *_ in every}
    if stale := [f"{file}: {name}" for file, name in SURVIVES if (file, name) not in known]:
        sys.exit("mutants.py: reasons for what is no mutant: " + "; ".join(stale))
    work = [job for job in every if any(o in f"{job[0]}: {job[1]}" for o in arguments.only or [""])]
    if not work:
        sys.exit(f"mutants.py: no mutant contains {arguments.only}; the files are: {', '.join(SUBJECTS)}")
    if arguments.share > 1:
        first = random.randrange(arguments.share) if arguments.first is None else arguments.first
        print(f"one in {arguments.share}: --first {first}")
        # Of those that have to die: a draw of one that may live could not fail.
        work = [job for job in work if not reason(*job[:2])][first::arguments.share]
    survivors = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        header, explorer = prelude(arguments.compiler, folder)
        whole = models(arguments.compiler, folder, explorer)
        outcomes = pool.map(lambda job: run(arguments.compiler, header, explorer, whole, *job), work)
        for (file, name, *_), what in zip(work, outcomes):
            verdict = f"dies: {what}" if what else reason(file, name) or "SURVIVES"
            survivors += verdict == "SURVIVES"
            print(f"{Path(file).name:18} {name:58} {verdict}", flush=True)
    print(f"{len(work)} mutants, {survivors} survive without a reason")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
