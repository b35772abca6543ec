// The heap as a state machine: every three bytes of the input are one operation on one of 256 slots, by one of three threads; with
// a byte too many it is the hardened heap.
// After each, every structure is looked at (core::validate), and what it says must be what the slots say.
//
// The threads are one, which is now here, now there: each has its word and with it its LAB, and between operations none of
// them is inside, so LABs are claimed, posted to and adopted as those of idle threads.
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
  std::size_t alignment = 0;  // 0: none was asked for
};

constexpr unsigned threads = 3;

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

// The flagship, the words of its threads, and what they have.
struct world {
  // No thread of the heap's own: it would come while nobody may.
  served h;
  bool capped = false;  // then there may be no memory
  polder::heap::lab* words[threads];
  unsigned now = 0;
  slot slots[256] = {};

  explicit world(bool hardened)
      : h({.arena_size = polder::GiB, .decay_ms = 1, .background = false, .hardened = hardened, .guard_rate = 8}) {
    for (auto& word : words) word = h.in_use::own();
    h.free(h.allocate(1));  // it stands, with these options
    leave();
  }
  // The words are the process's, for whichever world is being played.
  void enter() { h.use(words[now]); }
  void leave() { words[now] = h.in_use::own(); }
  void go_to(unsigned thread) {
    words[now] = h.in_use::own();
    h.in_use::own() = words[now = thread];
  }
  void put(slot& s, void* p, std::size_t n, unsigned char mark) {
    s = {static_cast<unsigned char*>(p), n, 0};
    if (p == nullptr) return expect(capped), static_cast<void>(s = {});
    expect(h.heap.owns(p));
    fill(s, mark);
  }
  void validate() {
    const polder::heap::core::census found = h.heap.validate();
    std::size_t small = 0;
    for (const slot& s : slots)
      small += s.p != nullptr && h.heap.usable_size(s.p) <= polder::mem::size_class::stepped::largest;
    expect(found.blocks + found.guarded == small && found.adrift == 0);
  }

  // The next few slots at once, where they are empty; or what lies in them.
  void take_batch(std::size_t first, std::size_t n, unsigned char mark) {
    void* had[8];
    const std::size_t got = h.heap.allocate_batch(n, 8, had);
    expect(got == 8 || capped);
    for (std::size_t i = 0; i != got; ++i) {
      slot& s = slots[(first + i) % 256];
      if (s.p) h.free(had[i]);
      else put(s, had[i], n, mark);
    }
  }
  void give_batch(std::size_t first) {
    void* given[8];
    for (std::size_t i = 0; i != 8; ++i) {
      slot& s = slots[(first + i) % 256];
      check(s);
      given[i] = s.p;
      s = {};
    }
    h.heap.deallocate_batch(given, 8);
  }
  // In the child of a fork there is one thread; the others' LABs are anybody's.
  void fork() {
    h.heap.after_fork_child();
    for (unsigned t = 0; t != threads; ++t)
      if (t != now) words[t] = &polder::heap::test_host::nobody<polder::heap::lab>;
  }
  void set_limit(std::size_t bytes) {
    h.heap.set_limit(bytes);
    capped = bytes != 0;
  }
  // On or off, with every second block of some hundred bytes drawn.
  void profile(bool on) {
    if (on) expect(h.heap.start_profile(300) == polder::heap::profiling::done || capped);
    else h.heap.stop_profile();
  }
  std::uint64_t live_samples() const {
    std::uint64_t n = 0;
    if (const polder::mem::heap_profile* const p = h.heap.profile())
      p->sites.for_each([&](std::uint32_t site) { n += p->sites.of(site).live_blocks; });
    return n;
  }
  void do_one(std::uint8_t what, std::uint8_t which, std::uint8_t size);
};

void world::do_one(std::uint8_t what, std::uint8_t which, std::uint8_t size) {
  slot& s = slots[which];
  const std::size_t n = size_of(size);
  const std::size_t alignment = std::size_t{16} << (what / 16 % 16);
  switch (what % 16) {
    case 0:
    case 1:
    case 2:
      if (!s.p) put(s, h.allocate(n), n, what);
      break;
    case 3:
      if (s.p) break;
      s = {static_cast<unsigned char*>(h.heap.allocate_zeroed(n)), n, 0};
      if (!s.p) {
        expect(capped);
        s = {};
        break;
      }
      check(s);
      fill(s, what);
      break;
    case 4:
      if (s.p) break;
      put(s, h.heap.allocate_aligned(alignment, n), n, what);
      if (!s.p) break;
      s.alignment = alignment;
      expect(polder::is_aligned(polder::address(s.p), alignment));
      break;
    case 5:
      if (!s.p || n == 0) break;
      check(s);
      if (void* const p = h.heap.reallocate(s.p, n)) {
        s.p = static_cast<unsigned char*>(p);
      } else {
        expect(capped && n > s.n);
        break;
      }
      expect(s.n == 0 || s.p[0] == s.mark);
      s.n = n;
      s.alignment = 0;
      fill(s, what);
      break;
    case 6:
    case 7:
    case 8:
      if (!s.p) break;
      check(s);
      expect(h.heap.usable_size(s.p) >= s.n);
      h.free(s.p);
      s = {};
      break;
    case 9:
      if (!s.p) break;
      check(s);
      if (s.alignment != 0) h.heap.deallocate_aligned_sized(s.p, s.alignment, s.n);
      else h.heap.deallocate_sized(s.p, s.n);
      s = {};
      break;
    case 10:
      if (!s.p) break;
      h.heap.deallocate_aligned_sized(s.p, s.alignment != 0 ? s.alignment : 16, s.n);
      s = {};
      break;
    case 11:
      if (size % 2 == 0) take_batch(which, n % 5000, what);
      else give_batch(which);
      break;
    case 12:
    case 13: go_to(which % threads); break;
    case 14:
      if (size % 8 == 0) h.heap.trim(0);
      else if (size % 8 == 1) h.heap.leave_thread();
      else if (size % 64 == 2) fork();
      else if (size % 8 == 3) profile(size >= 128);
      else if (size % 8 == 4) set_limit(size >= 128 ? 0 : std::size_t{size} << 18);
      else if (size % 8 == 5) h.heap.set_target(size >= 128 ? 0 : std::size_t{size} << 18);
      break;
    case 15: {  // past its exit, or with nobody's word: one operation in a borrowed LAB
      polder::heap::lab*& word = h.in_use::own();
      polder::heap::lab* const mine = word;
      word = &polder::heap::test_host::nobody<polder::heap::lab>;
      polder::heap::test_host::gone = true;
      if (!s.p) {
        put(s, h.allocate(n), n, what);
      } else {
        check(s);
        h.free(s.p);
        s = {};
      }
      polder::heap::test_host::gone = false;
      word = mine;
      break;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t length) {
  // One heap for all inputs: what they leave in it is part of what the next one finds.
  static world* const plain = new world(false);
  static world* const hardened = new world(true);
  world* const w = length % 3 == 1 ? hardened : plain;
  w->enter();
  for (std::size_t i = 0; i + 2 < length; i += 3) {
    w->do_one(data[i], data[i + 1], data[i + 2]);
    w->validate();
  }
  for (slot& s : w->slots) {
    if (!s.p) continue;
    check(s);
    w->h.free(s.p);
    s = {};
  }
  w->validate();
  w->set_limit(0);
  w->h.heap.set_target(0);
  const polder::heap::statistics now = w->h.now();
  // What is on its way home counts as allocated until it is there.
  for (unsigned t = 0; t != threads; ++t) {
    w->go_to(t);
    w->h.heap.trim(0);
  }
  expect(w->h.now().allocated == 0);
  expect(w->live_samples() == 0);
  expect(now.active <= now.resident && now.resident <= now.mapped && now.mapped <= now.reserved);
  w->leave();
  return 0;
}
