#pragma once
// span — the header at the beginning of a real span.
//
//   paper      Aigner et al. 2015, sec. 5, figure 4: link, epoch, owner, local f-list, and on a line of its own remote f-list
//   in malloc  yes
//   invariant  floating and reusable: blocks free locally + blocks free remotely <= capacity, and neither number falls;
//              hot: the owner alone lets them fall
//   deviation  spans have numbers, and links are numbers: a link and a tag fit in a word without borrowing from a pointer.
//              The links of the set have a line between the two
#include <cstdint>

#include <polder/base/config.hpp>
#include <polder/heap/scalloc/words.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::heap::scalloc {

using span_number = std::uint32_t;  // 1 … ; 0 is none

struct span {
  // ---- what everybody reads

  // epoch — state and steps.
  //   written by  who makes the step, by CAS: expected, free → hot by who took it; hot → floating by its owner; all
  //                 others by whoever holds the lock of the owner's LAB
  //   read by     every free of a block here, afterwards
  //   order       last-free: a freer writes a list, then reads the epoch; the owner that lets the span go writes the
  //                 epoch, then reads the lists. All seq_cst: one of them sees the other, so no last free is missed. With
  //                 it the owner publishes what it wrote when it opened the span; while it is hot nobody asks
  //   ABA         the counter: a freer delayed between its look at the lists and its step finds another word, though
  //                 the span may be reusable again in another life
  atomic<epoch_word> epoch;

  // owner — the LAB it belongs to, and which of the LAB's lives.
  //   written by  who opens it; who adopts it or marks it free, under the lock of the LAB it names
  //   read by     every free of a block here, before
  //   order       span-owner: who adopts it is done with the fields that its former LAB's lock guarded before anybody
  //                 takes the new LAB's lock for it
  //   ABA         the id wraps after 65,536 lives of a LAB: then an orphan belongs to the LAB's thread again, which may
  //                 as well have it
  atomic<owner_word> owner;

  // local — blocks that the owner freed, and those never handed out.
  //   written by  the owner: relaxed while the span is hot, else seq_cst
  //   read by     the owner; its count by every freer of a span that is not hot
  //   order       last-free, as at epoch and remote: of an owner's free and a remote one the later sees both
  //   ABA         none: one writer
  atomic<list_word> local;

  atomic<span_number> link;  // in a stack of the pool; its card stands there. Readable for ever
  atomic<std::uint32_t>
      capacity;  // blocks. With `threshold` written by who opens it; who reads old ones fails at epoch
  atomic<std::uint32_t> threshold;  // more free blocks than this make it reusable
  atomic<std::uint16_t> cls;        // size class, of this life or the last
  atomic<std::uint16_t> padding;
  span_number number;      // constant
  std::uint32_t dirty;     // bytes from its beginning that may hold memory; who holds it alone (free, or opening)
  std::uint32_t readable;  // bytes that may be touched; the same
  atomic<std::uint32_t> bumped;  // where the blocks that were handed out end. Owner; a free looks

  // ---- its set's, under the lock of the LAB

  alignas(cache_line) plain<std::uint32_t> listed;  // in a set: the set's generation, else 0
  plain<span*> next;
  plain<span*> previous;

  // ---- everybody's

  // remote — blocks that others freed.
  //   written by  freers, by CAS; the owner takes all by exchange
  //   read by     every freer
  //   order       remote-free: a freer's release publishes the block's link; all writes are RMWs, so the owner's acquire
  //                 synchronizes with every freer in the list
  //               last-free, as above
  //   ABA         harmless: a freer does not read through the word, and the owner takes whatever is there
  alignas(cache_line) atomic<list_word> remote;
};

}  // namespace polder::heap::scalloc
