#pragma once
// realloc_growth — buffers that grow from 4 bytes, as strings and arrays do: by doubling, and by small steps.
#include "core/run.hpp"

namespace polder::bench {

struct realloc_growth {
  static constexpr parameter parameters[] = {
      {"shape", 0, 0, 2, "", "how a buffer grows", "both|double|steps"},
      {"double_to", 32 << 20, 8, 1LL << 32, "bytes", "end of the doubling"},
      {"step_to", 512 << 10, 8, 1LL << 32, "bytes", "end of the steps"},
      {"factor", 200, 101, 1000, "%", "of a buffer's size is its next size, in the doubling"},
      {"step", 48, 1, 1 << 20, "bytes", "of a step"},
      {"buffers", 4, 1, 10'000, "buffers", "of each thread that grow side by side"},
      {"repeats", 4, 1, 1'000'000, "times", "from 4 bytes to the end"},
  };
  static constexpr preset presets[] = {
      {"gigabyte", "4 bytes to 1 GB by doubling, one buffer", "shape=double double_to=1G buffers=1 repeats=1"},
      {"gigabyte-by-half", "4 bytes to 1 GB, by half of its size each time, one buffer",
       "shape=double factor=150 double_to=1G buffers=1 repeats=1"},
      {"quick", "shorter", "double_to=8M step_to=128K repeats=8"},
      {"steps", "small steps only, to 2 MB", "shape=steps step_to=2M repeats=3"},
      {"smoke", "for tests", "double_to=256K step_to=8K repeats=2"},
  };
  static constexpr workload_info info{
      .name = "realloc_growth",
      .title = "Growth by realloc",
      .paper = "the field since (mimalloc-bench and others)",
      .what = "Each thread grows some buffers side by side by realloc, checks their contents, frees them.",
      .shows = "Whether realloc grows in place or moves pages instead of copying, and what contents survive.",
      .parameters = parameters,
      .presets = presets,
      .group = "field",
  };

  struct buffer {
    unsigned char* bytes = nullptr;
    std::size_t size = 0;
    std::uint64_t key = 0;
  };

  // The first four bytes; one word every 512 bytes; and the last byte, unless it is part of one of these.
  static constexpr std::size_t stride = 512;

  static bool has_tail(std::size_t size) {
    return size > 4 && (size < stride || size % stride == 0 || size % stride > 8);
  }

  static void write(buffer& b, std::size_t old) {
    const auto first = static_cast<std::uint32_t>(b.key);
    if (old == 0) std::memcpy(b.bytes, &first, 4);
    for (std::size_t at = std::max<std::size_t>(1, old / stride) * stride; at + 8 <= b.size; at += stride) {
      const std::uint64_t word = b.key + at;
      std::memcpy(b.bytes + at, &word, 8);
    }
    if (has_tail(b.size)) b.bytes[b.size - 1] = static_cast<unsigned char>(b.key + b.size);
  }

  // Of a buffer that had `size` bytes before it grew.
  static void check(run& r, const buffer& b, std::size_t size, bool whole) {
    std::uint32_t first = 0;
    std::memcpy(&first, b.bytes, 4);
    bool good = first == static_cast<std::uint32_t>(b.key);
    if (has_tail(size)) good &= b.bytes[size - 1] == static_cast<unsigned char>(b.key + size);
    for (std::size_t at = stride; whole && at + 8 <= size; at += stride) {
      std::uint64_t word = 0;
      std::memcpy(&word, b.bytes + at, 8);
      good &= word == b.key + at;
    }
    if (!good) r.fail("buffer %p lost contents of its first %zu bytes", static_cast<void*>(b.bytes), size);
  }

  static void grow(worker& w, buffer& b, std::size_t size) {
    const std::size_t old = b.size;
    void* moved = opaque(heap.realloc(b.bytes, size));
    if (moved == nullptr) w.of->fail("realloc to %zu bytes returned a null pointer", size);
    w.checked(moved, size);
    b.bytes = static_cast<unsigned char*>(moved);
    b.size = size;
    ++w.operations;
    w.allocations += old == 0;
    w.live += static_cast<std::int64_t>(size - old);
    if (old != 0) check(*w.of, b, old, size - old >= old / 4);
    write(b, old);
  }

  static std::size_t next(std::size_t size, std::size_t factor) {
    return std::max(size + 1, size / 100 * factor + size % 100 * factor / 100);
  }

  static void execute(run& r) {
    const std::size_t count = r.with.size("buffers");
    const std::size_t double_to = r.with.word("shape") == "steps" ? 0 : r.with.size("double_to");
    const std::size_t step_to = r.with.word("shape") == "double" ? 0 : r.with.size("step_to");
    const std::size_t step = r.with.size("step");
    const std::size_t factor = r.with.size("factor");
    mapped_array<buffer> buffers(count * r.threads);

    r.measure([&](worker& w) {
      buffer* mine = buffers.begin() + w.id * count;
      const auto begin = [&] {
        for (std::size_t i = 0; i < count; ++i) {
          mine[i].key = w.next_key();
          grow(w, mine[i], 4);
        }
      };
      const auto end = [&] {
        for (std::size_t i = 0; i < count; ++i) {
          check(r, mine[i], mine[i].size, true);
          heap.free(mine[i].bytes);
          w.gave(mine[i].size);
          ++w.operations;
          mine[i] = buffer{};
        }
      };
      for (std::int64_t repeat = 0; repeat < r.with["repeats"]; ++repeat) {
        if (double_to != 0) {
          begin();
          for (std::size_t size = next(4, factor); size <= double_to; size = next(size, factor)) {
            for (std::size_t i = 0; i < count; ++i) grow(w, mine[i], size);
          }
          end();
        }
        if (step_to != 0) {
          begin();
          for (std::size_t size = 4 + step; size <= step_to; size += step) {
            for (std::size_t i = 0; i < count; ++i) grow(w, mine[i], size);
          }
          end();
        }
      }
    });
  }
};

}  // namespace polder::bench
