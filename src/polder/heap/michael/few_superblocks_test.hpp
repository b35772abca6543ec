#pragma once
// few_superblocks — the parts of a superblock_heap in miniature: a handful of superblocks of a few blocks each, in either
// world. Descriptors, lists and the heap's two figures are the real ones.
#include <cstdint>
#include <new>

#include <polder/base/align.hpp>
#include <polder/heap/michael/descriptor_stack.hpp>
#include <polder/heap/michael/partial_queue.hpp>
#include <polder/heap/michael/partial_stack.hpp>
#include <polder/heap/michael/prefix.hpp>
#include <polder/heap/michael/superblock_heap.hpp>
#include <polder/sync/run_bitmap.hpp>

namespace polder::heap::michael {

struct few {
  unsigned capacity = 2, max_credits = 64, slots = 1, tag_bits = 42;
  bool keeps_lost_superblock = false;
  unsigned superblocks = 3;  // that there is memory for
  unsigned descriptors = 6;
};

template <few Few, class Partials = partial_queue>
struct few_superblocks {
  using descriptor = descriptor_of<anchor_word<Few.tag_bits>, std::uint32_t>;
  using heap = typename descriptor::heap;
  using word = atomic<std::uint64_t>;
  using partials = Partials;
  static constexpr unsigned max_credits = Few.max_credits;
  static constexpr bool keeps_lost_superblock = Few.keeps_lost_superblock;
  static constexpr std::uint64_t secret = 0x5ec2'e75e'c2e7'5ec2;

  // The model checker makes its objects where it likes, and descriptors must lie at multiples of 64 bytes.
  std::byte room[sizeof(descriptor) * (Few.descriptors + 2)];
  descriptor* const table = reinterpret_cast<descriptor*>(align_up(address(room), alignof(descriptor)));
  atomic<std::uint32_t> made{0};
  descriptor_stack<descriptor, 3> available;
  run_bitmap places;  // place p is superblock p; what is beyond Few.superblocks is never open
  word words[Few.superblocks][Few.capacity];
  plain<std::uint32_t> contents[Few.superblocks][Few.capacity];  // whoever has the block may touch them
  partials lists[1];
  heap heaps[2];
  superblock_heap<few_superblocks> core{*this};

  few_superblocks() {
    for (std::uint32_t i = 0; i <= Few.descriptors; ++i) {
      new (&table[i]) descriptor;
      table[i].number = i;
      table[i].node.set(i);
    }
    static_cast<void>(places.try_take_at(Few.superblocks, 64 - Few.superblocks));
    if constexpr (partials::needs_spare) lists[0].begin(*this, made.fetch_add(1, order::relaxed) + 1);
  }

  ~few_superblocks() {
    for (std::uint32_t i = 0; i <= Few.descriptors; ++i) table[i].~descriptor();
  }
  few_superblocks(const few_superblocks&) = delete;
  few_superblocks& operator=(const few_superblocks&) = delete;

  unsigned slots() const { return Few.slots; }
  descriptor& at(std::uint32_t number) { return table[number]; }
  partials& list(unsigned) { return lists[0]; }
  unsigned capacity(unsigned) const { return Few.capacity; }

  descriptor* take_descriptor() {
    if (descriptor* const d = available.take()) return d;
    std::uint32_t now = made.load(order::relaxed);
    while (now != Few.descriptors)
      if (made.cas(now, now + 1, order::relaxed, order::relaxed)) return &table[now + 1];
    return nullptr;
  }
  void retire(descriptor& d) { available.retire(d); }

  bool open(descriptor& d, unsigned) {
    const unsigned p = places.try_take(1);
    if (p == run_bitmap::none) return false;
    d.sb.set(p);
    return true;
  }
  void organize(descriptor& d, unsigned) {
    for (unsigned i = 0; i != Few.capacity; ++i)
      word_of(d, i).store(prefix::fresh(i + 1, i, secret), order::relaxed);
  }
  void close(std::uint32_t sb, unsigned) { static_cast<void>(places.give(sb, 1)); }

  // A stale anchor may name any block.
  word& word_of(descriptor& d, unsigned i) { return words[d.sb.get()][i % Few.capacity]; }
  unsigned next(std::uint64_t bits) const { return prefix::next(bits); }
  std::uint64_t freed(descriptor&, unsigned i, unsigned next) const { return prefix::freed(next, i, secret); }
  void popped(descriptor& d, word& w, std::uint64_t bits) {
    if (!prefix::is_free(bits, std::uint64_t(&w - words[d.sb.get()]), secret)) ++overwritten;
  }
  unsigned overwritten = 0;  // free blocks that did not look free when they were popped
  std::uint64_t live(descriptor& d) const { return prefix::live(&d); }

  // ---- what a test does
  struct block {
    word* w = nullptr;
    unsigned place = 0, index = 0;
    explicit operator bool() const { return w != nullptr; }
  };
  block malloc(unsigned h = 0) {
    word* const w = core.malloc(heaps[h]);
    if (!w) return {};
    const unsigned n = unsigned(w - &words[0][0]);
    const block b{w, n / Few.capacity, n % Few.capacity};
    touch(b);
    return b;
  }
  descriptor& descriptor_of_block(block b) {
    return *reinterpret_cast<descriptor*>(b.w->load(order::relaxed) & ~std::uint64_t{63});
  }
  void touch(block b) { contents[b.place][b.index].set(contents[b.place][b.index].get() + 1); }
  void free(block b) {
    if (!b) return;
    touch(b);
    core.free(descriptor_of_block(b), b.index);
  }
};

}  // namespace polder::heap::michael
