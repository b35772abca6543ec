// What is in the blocks: calloc is zero whatever was there, realloc keeps, nothing overlaps, free leaves errno alone.
#include <cstdint>

#include "catalogue.hpp"

namespace conformance {
namespace {

// Fill the whole usable size of many blocks of a size, free them, and calloc the same size.
void zero_after_dirty(report& r, std::size_t octave, std::size_t) {
  for (std::size_t step = 0; step < 8; ++step) {
    const std::size_t n = octave + octave / 8 * step;
    const std::size_t count = n <= 4096 ? 200 : n <= 65'536 ? 24 : n <= std::size_t{1} << 20 ? 6 : 3;
    void* blocks[200];
    for (int round = 0; round < 2; ++round) {
      for (std::size_t i = 0; i < count; ++i) {
        blocks[i] = subject::malloc(n);
        if (blocks[i] == nullptr) return r.say("malloc(%zu): NULL", n);
        std::memset(blocks[i], 0xa5, subject::usable(blocks[i]));
        opaque(blocks[i]);
      }
      for (std::size_t i = 0; i < count; ++i) subject::free(blocks[(i * 7 + 3) % count == i ? i : count - 1 - i]);
      for (std::size_t i = 0; i < count; ++i) {
        blocks[i] = subject::calloc(i % 2 == 0 ? 1 : n, i % 2 == 0 ? n : 1);
        if (blocks[i] == nullptr) return r.say("calloc(%zu): NULL", n);
        if (!all_zero(blocks[i], n)) return r.say("calloc(%zu): not zero in round %d", n, round);
      }
      for (std::size_t i = 0; i < count; ++i) subject::free(blocks[i]);
    }
  }
}

// A large dirty block is freed and cut into smaller ones; small dirty ones are freed and joined.
void zero_after_cutting(report& r, std::size_t large, std::size_t small) {
  void* p = subject::malloc(large);
  std::memset(p, 0xa5, large);
  subject::free(opaque(p));
  const std::size_t count = large / small < 300 ? large / small : 300;
  void* blocks[300];
  for (std::size_t i = 0; i < count; ++i) {
    blocks[i] = subject::calloc(1, small);
    if (!all_zero(blocks[i], small)) r.say("small block %zu is dirty", i);
    std::memset(blocks[i], 0x5a, small);
  }
  for (std::size_t i = 0; i < count; ++i) subject::free(opaque(blocks[i]));
  p = subject::calloc(large, 1);
  if (!all_zero(p, large)) r.say("large block is dirty");
  subject::free(p);
}

// A block that shrank or grew in place gives back a dirty tail.
void zero_after_realloc(report& r, std::size_t from, std::size_t to) {
  for (int i = 0; i < 8; ++i) {
    void* p = subject::malloc(from);
    std::memset(p, 0xa5, from);
    p = subject::realloc(opaque(p), to);
    std::memset(p, 0xa5, to);
    void* q = subject::calloc(1, from);
    if (!all_zero(q, from)) r.say("dirty beside the block");
    subject::free(opaque(p));
    p = subject::calloc(1, from);
    if (!all_zero(p, from)) r.say("dirty after its free");
    subject::free(p);
    subject::free(q);
  }
}

constexpr std::size_t edges[] = {
    1,      8,       16,      17,      24,      25,      64,      100,           128,    255,    512,
    1000,   1024,    1025,    2048,    4095,    4096,    8192,    16'384,        32'768, 32'769, 65'536,
    65'537, 131'072, 131'088, 262'144, 524'288, 1 << 20, 2 << 20, (2 << 20) + 1, 3 << 20};

void realloc_from(report& r, std::size_t from, std::size_t) {
  for (std::size_t to : edges) {
    void* p = subject::malloc(from);
    fill(p, from, to);
    errno = EDOM;
    void* q = subject::realloc(p, to);
    if (q == nullptr) return r.say("to %zu: NULL", to);
    if (errno != EDOM) r.say("to %zu: errno changed", to);
    if (!aligned_to(q, 16)) r.say("to %zu: not 16-aligned", to);
    if (subject::usable(q) < to) r.say("to %zu: usable < n", to);
    if (!holds(q, from < to ? from : to, to)) return r.say("to %zu: contents lost", to);
    fill(q, to, from);
    if (!holds(q, to, from)) r.say("to %zu: not writable", to);
    subject::free(q);
  }
}

// Grows one block while others stand beside it; each must keep what is in it.
void creeping(report& r, std::size_t step, std::size_t last) {
  void* beside[16];
  void* p = subject::malloc(1);
  std::size_t n = 1;
  fill(p, 1, 0);
  for (std::size_t i = 0; i < 16; ++i) fill(beside[i] = subject::malloc(48), 48, i);
  std::size_t checks = 0;
  while (n < last) {
    n += step;
    p = subject::realloc(p, n);
    if (p == nullptr) return r.say("NULL at %zu", n);
    auto* bytes = static_cast<unsigned char*>(p);
    for (std::size_t i = n - step; i < n; ++i) bytes[i] = byte_of(0, i);
    const bool boundary = (n & (n - 1)) == 0 || n - step < 4096;
    if ((boundary || ++checks % 64 == 0) && !holds(p, n, 0)) return r.say("contents lost at %zu", n);
  }
  if (!holds(p, n, 0)) r.say("contents lost at the end");
  while (n > step) {
    n -= step;
    p = subject::realloc(p, n);
    if (p == nullptr) return r.say("shrinking: NULL at %zu", n);
    if (++checks % 64 == 0 && !holds(p, n, 0)) return r.say("shrinking: contents lost at %zu", n);
  }
  for (std::size_t i = 0; i < 16; ++i) {
    if (!holds(beside[i], 48, i)) r.say("neighbour damaged");
    subject::free(beside[i]);
  }
  subject::free(p);
}

void geometric(report& r, std::size_t first, std::size_t last) {
  std::size_t n = first;
  void* p = subject::malloc(n);
  fill(p, n, 1);
  while (n < last) {
    const std::size_t more = n + n / 2 + 1;
    p = subject::realloc(p, more);
    if (p == nullptr) return r.say("NULL at %zu", more);
    if (!holds(p, n, 1)) return r.say("contents lost at %zu", more);
    fill(p, n = more, 1);
  }
  while (n > 1) {
    n /= 2;
    p = subject::realloc(p, n);
    if (p == nullptr) return r.say("shrinking: NULL at %zu", n);
    if (!holds(p, n, 1)) return r.say("shrinking: contents lost at %zu", n);
  }
  subject::free(p);
}

// The answer of malloc_usable_size may be used to the last byte, does not change, and realloc keeps all of it.
void whole_usable_size(report& r, std::size_t from, std::size_t to) {
  const std::size_t count = from < 40'000 ? 64 : 12;
  for (std::size_t n = from; n <= to; n += n / 16 + 1) {
    void* p[64];
    std::size_t usable[64];
    for (std::size_t i = 0; i < count; ++i) {
      p[i] = subject::malloc(n);
      usable[i] = subject::usable(p[i]);
      fill(p[i], usable[i], i);
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (subject::usable(p[i]) != usable[i]) return r.say("usable size of %zu changed", n);
      if (!holds(p[i], usable[i], i)) return r.say("usable bytes of %zu overlap", n);
    }
    for (std::size_t i = 0; i < count; ++i) {
      p[i] = subject::realloc(p[i], usable[i] + 100);
      if (!holds(p[i], usable[i], i)) return r.say("realloc of %zu lost usable bytes", n);
      subject::free(p[i]);
    }
  }
}

// A pseudo-random life of many blocks of all sizes; each is checked when it dies.
void mixed_life(report& r, std::size_t largest, std::size_t seed) {
  constexpr std::size_t slots = 512;
  static void* p[slots];
  static std::size_t size[slots];
  std::uint64_t x = seed * 2 + 1;
  std::size_t live = 0;
  for (int i = 0; i < 20'000; ++i) {
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    const std::size_t k = x % slots;
    if (p[k] != nullptr) {
      if (!holds(p[k], size[k], k)) return r.say("block of %zu damaged after %d steps", size[k], i);
      if (x >> 60 < 4) {
        const std::size_t m = 1 + (x >> 20) % largest;
        p[k] = subject::realloc(p[k], m);
        if (!holds(p[k], size[k] < m ? size[k] : m, k))
          return r.say("realloc %zu to %zu lost contents", size[k], m);
        fill(p[k], size[k] = m, k);
        continue;
      }
      subject::free(p[k]);
      p[k] = nullptr;
      live -= size[k];
    } else if (live < std::size_t{48} << 20) {
      const std::size_t shift = (x >> 40) % 12;
      size[k] = 1 + (x >> 20) % (1 + (largest >> shift));
      p[k] = (x & 1 << 15) != 0 ? subject::malloc(size[k]) : subject::calloc(size[k], 1);
      if (p[k] == nullptr) return r.say("NULL at %zu", size[k]);
      if ((x & 1 << 15) == 0 && !all_zero(p[k], size[k])) return r.say("calloc(%zu) not zero", size[k]);
      fill(p[k], size[k], k);
      live += size[k];
    }
  }
  for (std::size_t k = 0; k < slots; ++k) {
    if (p[k] != nullptr && !holds(p[k], size[k], k)) r.say("block damaged at the end");
    subject::free(p[k]);
    p[k] = nullptr;
  }
}

void free_keeps_errno(report& r, std::size_t n, std::size_t) {
  for (int e : {0, ENOMEM, EDOM, EINTR}) {
    void* p = subject::malloc(n);
    void* q = subject::memalign(4096, n);
    fill(p, n < 100 ? n : 100, 1);
    errno = e;
    subject::free(p);
    if (errno != e) r.say("free(malloc(%zu)) changed errno", n);
    errno = e;
    subject::free(q);
    if (errno != e) r.say("free(memalign(%zu)) changed errno", n);
    errno = e;
    subject::free(nullptr);
    if (errno != e) r.say("free(NULL) changed errno");
    errno = e;
    ::operator delete(subject::new_plain(n));
    if (errno != e) r.say("delete changed errno");
  }
}

// C lets a successful call change errno; glibc does not, and programs have come to count on it.
void success_keeps_errno(report& r, std::size_t n, std::size_t) {
  errno = EDOM;
  void* p = subject::malloc(n);
  if (errno != EDOM) r.say("malloc changed errno");
  void* q = subject::calloc(1, n);
  if (errno != EDOM) r.say("calloc changed errno");
  p = subject::realloc(p, n + n / 2);
  if (errno != EDOM) r.say("realloc changed errno");
  void* s = subject::memalign(256, n);
  if (errno != EDOM) r.say("memalign changed errno");
  subject::usable(s);
  if (errno != EDOM) r.say("malloc_usable_size changed errno");
  subject::free(p), subject::free(q), subject::free(s);
}

// Freed memory is had again: a program of this life needs no more than its live blocks.
void freed_is_reused(report& r, std::size_t n, std::size_t how) {
  for (std::size_t i = 0; i < 400'000'000 / (n + 4096); ++i) {
    void* p = how == 2 ? subject::memalign(4096, n) : subject::malloc(n);
    if (p == nullptr) return r.say("memory is gone after %zu blocks", i);
    std::memset(p, 1, n);
    if (how == 1) subject::realloc(opaque(p), 0);
    else subject::free(opaque(p));
  }
}

}  // namespace

void add_contents(catalogue& table) {
  for (std::size_t octave = 16; octave <= std::size_t{16} << 20; octave *= 2)
    table.add(zero_after_dirty, octave, 0, "calloc after dirty frees from %zu", octave);
  table.add(zero_after_dirty, 8, 0, "calloc after dirty frees from 8");
  table.add(zero_after_cutting, 4 << 20, 100'000, "calloc from a cut 4M block, 100000");
  table.add(zero_after_cutting, 4 << 20, 20'000, "calloc from a cut 4M block, 20000");
  table.add(zero_after_cutting, 1 << 20, 4096, "calloc from a cut 1M block, 4096");
  table.add(zero_after_cutting, 200'000, 1000, "calloc from a cut 200000 block, 1000");
  for (auto [from, to] : {std::pair{std::size_t{1} << 20, std::size_t{300'000}},
                          {300'000, 100'000},
                          {100'000, 300'000},
                          {200, 100},
                          {4 << 20, 100},
                          {3 << 20, 5 << 20}})
    table.add(zero_after_realloc, from, to, "calloc beside a realloc %zu to %zu", from, to);
  for (std::size_t from : edges) table.add(realloc_from, from, 0, "realloc from %zu to all sizes", from);
  table.add(creeping, 1, 6000, "realloc creeping by 1");
  table.add(creeping, 16, 80'000, "realloc creeping by 16");
  table.add(creeping, 4096, 3 << 20, "realloc creeping by 4096");
  table.add(creeping, 1 << 20, 40 << 20, "realloc creeping by 1M");
  table.add(geometric, 1, std::size_t{64} << 20, "realloc growing by half to 64M and back");
  table.add(geometric, 3000, std::size_t{100} << 20, "realloc growing by half to 100M and back");
  table.add(whole_usable_size, 1, 1024, "whole usable size, 1 to 1024");
  table.add(whole_usable_size, 1024, 40'000, "whole usable size, 1024 to 40000");
  table.add(whole_usable_size, 40'000, 600'000, "whole usable size, 40000 to 600000");
  for (std::size_t largest : {std::size_t{64}, std::size_t{1024}, std::size_t{20'000}, std::size_t{400'000}})
    for (std::size_t seed : {1, 2})
      table.add(mixed_life, largest, seed, "mixed life up to %zu, seed %zu", largest, seed);
  for (std::size_t n : {std::size_t{1}, std::size_t{100}, std::size_t{5000}, std::size_t{200'000},
                        std::size_t{3} << 20, std::size_t{40} << 20}) {
    table.add(free_keeps_errno, n, 0, "free keeps errno, %zu", n);
    table.add(success_keeps_errno, n, 0, "success keeps errno, %zu", n);
  }
  table.under(setting::limited);
  for (std::size_t n :
       {std::size_t{100}, std::size_t{10'000}, std::size_t{200'000}, std::size_t{3} << 20, std::size_t{20} << 20}) {
    table.add(freed_is_reused, n, 0, "freed is reused: %zu", n);
    table.add(freed_is_reused, n, 1, "realloc(p,0) frees: %zu", n);
    table.add(freed_is_reused, n, 2, "freed is reused: aligned %zu", n);
  }
  table.under(setting::plain);
}

}  // namespace conformance
