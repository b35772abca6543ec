#pragma once
// descriptor — what is known of a superblock, out of its line.
//
//   paper      Michael, PLDI 2004, figure 3
//   in malloc  yes; the memory of a descriptor is a descriptor for ever, so a stale pointer to one may be read
//   deviation  `sz` and `maxcount` follow from the class; each descriptor carries the node with which it is queued
//              (partial_queue.hpp), and a number, because lists count their links and a pointer leaves no room to count
//   invariant  who holds a descriptor: who took it from the stack of free ones; while its superblock is partial or empty,
//              who took it out of a slot or list, or is about to put it in. At all other times, nobody
#include <cstddef>
#include <cstdint>

#include <polder/heap/michael/active.hpp>
#include <polder/heap/michael/anchor.hpp>
#include <polder/heap/michael/counted.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::heap::michael {

template <class Anchor, class Memory>
struct descriptor_of;

inline constexpr unsigned max_partial_slots = 4;

// A processor heap of one size class.
template <class Descriptor>
struct processor_heap {
  // active — the superblock from which this heap allocates, and what may be reserved of it.
  //   written by  any thread of this heap: installs over null, takes a credit, takes the last one and leaves null
  //   read by     the same
  //   order       new-superblock: the installer's release publishes the descriptor and the links of the blocks; who
  //                 takes a credit acquires it with the CAS that takes. All writes are RMWs: one release sequence
  //   ABA         harmless: nothing is read through it before the CAS; equal words mean equal promises
  atomic<active_word<Descriptor>> active;

  // partial — the partial superblocks used last, [0] the last; the front has `slots` of them.
  //   written by  who puts one in (exchange), who takes it out (CAS to null)
  //   order       partial-slot: what the putter did to the descriptor comes before what the taker does
  //   ABA         harmless for who wants any partial superblock. Who wants to remove a certain empty one may meet its
  //                 next life, and must look (superblock_heap.hpp, remove_empty)
  atomic<Descriptor*> partial[max_partial_slots];

  unsigned cls = 0;  // constant once the heap is shared
};

template <class Anchor, class Memory>
struct alignas(64) descriptor_of {
  using anchor_type = Anchor;
  using memory = Memory;
  using heap = processor_heap<descriptor_of>;

  // anchor — see anchor.hpp for the states.
  //   written by  malloc and free of the superblock's blocks, the holder
  //   read by     the same
  //   order       free-link: a free's release publishes the link it wrote and what the user did to the block; who pops
  //                 acquires the anchor before it reads the link
  //               last-free: the free that empties the superblock acquires all earlier frees, since it gives the
  //                 memory away; the holder that finds it empty acquires that free, since it retires the descriptor
  //               All writes but the first of a life are RMWs: one release sequence from life to life
  //   ABA         the tag: see anchor_word
  atomic<Anchor> anchor;

  // next — in the stack of free descriptors (descriptor_stack.hpp).
  atomic<descriptor_of*> next;

  // heap — the processor heap that had it last.
  //   written by  the holder
  //   read by     the holder; a free that may be the last one, before its CAS (figure 6, lines 13 and 14)
  //   order       free-heap: that read is done when the CAS is seen, for the CAS is a release
  atomic<heap*> owner;

  plain<Memory> sb;            // the superblock; written by the holder of an empty or new one
  plain<std::uint32_t> cls;    // its size class; the same
  plain<std::uint32_t> node;   // number of the queue node it brings along (partial_queue.hpp); the holder
  atomic<counted> link;        // of queue node or list entry `number`: the lists' own
  atomic<std::uint32_t> item;  // of queue node `number`: the queue's own
  std::uint32_t number = 0;    // constant once made; 0 is none
};

}  // namespace polder::heap::michael
