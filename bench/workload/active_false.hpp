#pragma once
// active_false — Berger and others, "Hoard", 2000; Michael sec. 4.1: each thread writes to small blocks of its own, over
// and over. Where an allocator has put blocks of two threads into one cache line, the line travels at every write.
#include <span>

#include "core/run.hpp"

namespace polder::bench {

struct active_false {
  static constexpr std::size_t most_held = 64;
  static constexpr parameter parameters[] = {
      {"size", 8, 1, 4096, "bytes", "size of every block"},
      {"pairs", 100'000, 1, 1'000'000'000, "blocks", "allocated, written to and freed by each thread"},
      {"held", 4, 1, most_held, "blocks",
       "written to in turn, before they are freed: with one, neighbours may be missed"},
      {"writes", 1000, 0, 1'000'000'000, "times", "each byte of a block is written"},
  };
  static constexpr preset presets[] = {
      {"michael-fig8c", "Michael, figure 8c: 10,000 pairs of 8 bytes, 1000 writes to each byte",
       "size=8 pairs=10000 held=1 writes=1000"},
      {"michael-fig8c-scaled", "Michael, figure 8c, longer", "size=8 pairs=100000 held=1 writes=1000"},
      {"hoard", "the parameters that Hoard's authors suggest: 100 blocks of 8 bytes, a million writes to each byte",
       "size=8 pairs=100 held=1 writes=1000000"},
      {"quick", "the defaults, shorter", "pairs=30000"},
      {"smoke", "for tests", "pairs=300 writes=20"},
  };
  static constexpr workload_info info{
      .name = "active_false",
      .title = "Active false sharing",
      .paper = "Berger 2000; Michael fig. 8c; scalloc sec. 7.4",
      .what =
          "Each thread allocates a few small blocks, writes to them many times, frees them, and takes the next.",
      .shows =
          "Whether blocks that different threads allocate lie in one cache line: then two threads are many "
          "times slower than one.",
      .parameters = parameters,
      .presets = presets,
  };

  // A cache line that a thread wrote to.
  struct line {
    std::uintptr_t number;  // 0: none
    unsigned thread;
  };
  static constexpr std::uintptr_t line_size = 64;

  static unsigned char written(std::uint64_t key, std::int64_t n) {
    return static_cast<unsigned char>((key >> 8) ^ static_cast<std::uint64_t>(n));
  }

  // The lines of the blocks that are written to last are noted: a block shares its first line or its last with others.
  static void write_to_own_blocks(worker& w, line* noted) {
    const std::size_t size = w.of->with.size("size");
    const std::size_t pairs = w.of->with.size("pairs");
    const std::size_t held = w.of->with.size("held");
    const auto writes = w.of->with["writes"];
    struct {
      unsigned char* block;
      std::uint64_t key;
    } mine[most_held];
    std::size_t now = 0;
    for (std::size_t begun = 0; begun < pairs; begun += now) {
      now = std::min(held, pairs - begun);
      for (auto& m : std::span(mine, now)) {
        m.key = w.next_key();
        m.block = static_cast<unsigned char*>(w.allocate(size, m.key));
      }
      // One byte at a time, and to memory each time.
      for (std::int64_t n = 0; n < writes; ++n) {
        for (const auto& m : std::span(mine, now)) {
          volatile unsigned char* bytes = m.block;
          for (std::size_t i = 0; i < size; ++i) bytes[i] = written(m.key, n);
        }
      }
      for (const auto& m : std::span(mine, now)) {
        const bool whole = std::all_of(m.block, m.block + size,
                                       [&](unsigned char byte) { return byte == written(m.key, writes - 1); });
        if (!whole && writes != 0)
          w.of->fail("block %p of %zu bytes was overwritten while in use", static_cast<void*>(m.block), size);
        stamp(m.block, size, m.key);
        w.release(m.block, size, m.key);
      }
    }
    for (const auto& m : std::span(mine, now)) {
      const auto address = reinterpret_cast<std::uintptr_t>(m.block);
      *noted++ = {address / line_size, w.id};
      *noted++ = {(address + size - 1) / line_size, w.id};
    }
    w.operations += 2 * static_cast<std::uint64_t>(pairs);
  }

  // How many lines several threads wrote to.
  static unsigned shared_lines(mapped_array<line>& lines) {
    std::sort(lines.begin(), lines.end(), [](const line& a, const line& b) { return a.number < b.number; });
    unsigned shared = 0;
    for (const line* first = lines.begin(); first != lines.end();) {
      const line* next = std::find_if(first, static_cast<const line*>(lines.end()),
                                      [&](const line& l) { return l.number != first->number; });
      shared +=
          first->number != 0 && std::any_of(first, next, [&](const line& l) { return l.thread != first->thread; });
      first = next;
    }
    return shared;
  }

  // What a worker does first is what the two workloads differ in.
  template <class Begin>
  static void measure(run& r, Begin begin) {
    const std::size_t notes = 2 * r.with.size("held");
    mapped_array<line> lines(notes * r.threads);
    r.measure([&](worker& w) {
      begin(w);
      write_to_own_blocks(w, lines.begin() + w.id * notes);
    });
    r.tell("shared_lines", shared_lines(lines));
  }

  static void execute(run& r) {
    measure(r, [](worker&) {});
  }
};

}  // namespace polder::bench
