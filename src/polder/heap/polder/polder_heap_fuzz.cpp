// The heap as a state machine: every three bytes of the input are one operation on one of 256 slots.
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <polder/heap/polder/served_test.hpp>

namespace {

using polder::heap::served;

struct slot {
  unsigned char* p;
  std::size_t n;
  unsigned char mark;
};

void expect(bool holds) {
  if (!holds) std::abort();
}

void check(const slot& s) {
  if (s.n != 0) expect(s.p[0] == s.mark && s.p[s.n / 2] == s.mark && s.p[s.n - 1] == s.mark);
}

void fill(slot& s, unsigned char mark) {
  s.mark = mark;
  if (s.n != 0) s.p[0] = s.p[s.n / 2] = s.p[s.n - 1] = mark;
}

// From nothing to 8 MiB, with most weight on small sizes and on the edges of classes.
std::size_t size_of(std::uint8_t b) {
  const std::size_t power = std::size_t{1} << (b % 24);
  return b < 96 ? power + b / 24 - 1 : b < 192 ? power * 3 / 4 : b * 8;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t length) {
  // One heap for all inputs: what they leave in it is part of what the next one finds.
  static served* const h = new served({.arena_size = polder::GiB, .decay_ms = 1});
  static slot slots[256];
  std::memset(slots, 0, sizeof slots);
  for (std::size_t i = 0; i + 2 < length; i += 3) {
    slot& s = slots[data[i + 1]];
    const std::size_t n = size_of(data[i + 2]);
    switch (data[i] % 8) {
      case 0:
      case 1:
        if (s.p) break;
        s = {static_cast<unsigned char*>(h->allocate(n)), n, 0};
        expect(s.p != nullptr);
        fill(s, data[i]);
        break;
      case 2:
        if (s.p) break;
        s = {static_cast<unsigned char*>(h->heap.allocate_zeroed(n)), n, 0};
        expect(s.p != nullptr);
        check(s);
        fill(s, data[i]);
        break;
      case 3: {
        if (s.p) break;
        const std::size_t alignment = std::size_t{16} << (data[i] / 8 % 16);
        s = {static_cast<unsigned char*>(h->heap.allocate_aligned(alignment, n)), n, 0};
        expect(s.p != nullptr && polder::is_aligned(polder::address(s.p), alignment));
        fill(s, data[i]);
        break;
      }
      case 4: {
        if (!s.p || n == 0) break;
        check(s);
        s.p = static_cast<unsigned char*>(h->heap.reallocate(s.p, n));
        expect(s.p != nullptr && (s.n == 0 || s.p[0] == s.mark));
        s.n = n;
        fill(s, data[i]);
        break;
      }
      case 5:
      case 6:
        if (!s.p) break;
        check(s);
        expect(h->heap.usable_size(s.p) >= s.n);
        h->free(s.p);
        s = {};
        break;
      case 7:
        if (data[i] % 64 == 7) h->heap.trim(0);
        if (data[i] % 64 == 15) h->heap.leave_thread();
        break;
    }
  }
  for (slot& s : slots)
    if (s.p) {
      check(s);
      h->free(s.p);
    }
  const polder::heap::statistics now = h->now();
  expect(now.allocated == 0);
  expect(now.active <= now.resident && now.resident <= now.mapped && now.mapped <= now.reserved);
  return 0;
}
