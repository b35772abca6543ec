#pragma once
// rows — rows of blocks, and the scripts that work on them. Each letter is a step, the last of them the operation under
// test; together they bring superblocks, spans and caches into every state there is around a boundary: how many blocks are
// held when the next one is asked for, which is freed first, and which last, and whose they are.
#include <malloc.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

#include "../probe/expect.hpp"
#include "../probe/opaque.hpp"
#include "neighbour.hpp"

namespace polder::progress {

inline constexpr int most_blocks = 64;

// What to do with a row of blocks: 'a' allocates the next, 'f' frees the oldest, 'l' the one allocated last, 's' the first
// time the fourth of the row, then the eleventh and so on, 'e' every seventh at once, 'z' allocates as calloc, 'm' at a
// multiple of a page, 'r' makes the oldest twice as long, 'h' half as long, 't' trims. Where another thread has a part in it:
// 'n' the neighbour allocates the next, 'i' it frees the oldest, 'x' a thread allocates the next, and ends. 'd', first of all:
// all of it in a destructor of thread-specific data that runs when the heap's own has.
struct script {
  std::string steps;
  std::size_t size;

  // What is under test, by the name that it has in the table.
  const char* operation() const {
    if (steps.front() == 'd') return "past the thread's exit";
    if (steps.back() == 't') return "malloc_trim";
    if (size > 32 << 20) return "huge";
    if (size > 32 << 10) return "large";
    switch (steps.back()) {
      case 'a': return "malloc";
      case 'z': return "calloc";
      case 'm': return "memalign";
      case 'r':
      case 'h': return "realloc";
      default: return steps.find_first_of("nx") != std::string::npos ? "free of another's" : "free";
    }
  }
};

class row_of_blocks {
 public:
  void step(char what, std::size_t size) {
    switch (what) {
      case 'a': put(std::malloc(size), size); break;
      case 'z': put(std::calloc(1, size), size); break;
      case 'm': put(::memalign(4096, size), size); break;
      case 'n': put(the_neighbour.allocate(size), size); break;
      case 'x': put(by_a_thread_that_ends(size), size); break;
      case 'f': free(first_++); break;
      case 'l': free(--last_); break;
      case 's': free(7 * seventh_++ + 3); break;
      case 'e':
        for (int i = first_; i < last_; i += 7) free(i);
        break;
      case 'i': the_neighbour.free(take(first_++)); break;
      case 'r': resize(2 * size); break;
      case 'h': resize(size / 2); break;
      case 't': ::malloc_trim(0); break;
      case 'd': break;
      default: probe::fail("no such step: %c", what);
    }
  }
  void run(const script& s, std::size_t from, std::size_t to) {
    for (std::size_t i = from; i != to; ++i) step(s.steps[i], s.size);
  }
  void check_all() const {
    for (int i = first_; i < last_; ++i) check(blocks_[i]);
  }
  void free_all() {
    while (first_ < last_) free(first_++);
    first_ = last_ = seventh_ = 0;
  }
  // Before a step in which the thread may end: which blocks it is about, and what is to be forgotten if it did.
  void prepare(char what) {
    busy_[0] = what == 'f' || what == 'r' || what == 'h' ? first_
               : what == 'l'                             ? last_ - 1
               : what == 's'                             ? 7 * seventh_ + 3
                                                         : last_;
    busy_[1] = last_;
    everything_ = what == 'e';
  }
  void forget_what_it_was_about() {
    for (int i = 0; i != most_blocks; ++i)
      if (everything_ || i == busy_[0] || i == busy_[1]) blocks_[i] = {};
  }

 private:
  struct held {
    unsigned char* p = nullptr;
    std::size_t size = 0;
    unsigned char mark = 0;
  };

  void put(void* p, std::size_t size) {
    held h{static_cast<unsigned char*>(probe::opaque(p)), size, ++mark_};
    if (!h.p) _exit(3);
    h.p[0] = h.p[size / 2] = h.p[size - 1] = h.mark;
    blocks_[last_++] = h;
  }
  void resize(std::size_t size) {
    held& h = blocks_[first_];
    check(h);
    put(std::realloc(h.p, size), size);
    h = {};
  }
  static void check(const held& h) {
    if (h.p && (h.p[0] != h.mark || h.p[h.size / 2] != h.mark || h.p[h.size - 1] != h.mark)) {
      static const char text[] = "a block changed under its holder\n";
      [[maybe_unused]] auto n = ::write(2, text, sizeof text - 1);
      _exit(4);
    }
  }
  void* take(int i) {
    held h = blocks_[i];
    blocks_[i] = {};
    if (h.p) check(h);
    return h.p;
  }
  void free(int i) { std::free(take(i)); }

  held blocks_[most_blocks];
  int first_ = 0, last_ = 0;
  int busy_[2] = {};
  int seventh_ = 0;
  bool everything_ = false;
  unsigned char mark_ = 0;
};

// 30,000 bytes: few to a superblock or span, so that its boundaries are near.
inline std::vector<script> scripts() {
  std::vector<script> all;
  for (std::size_t size : {std::size_t{30'000}, std::size_t{2'000}}) {
    const unsigned most = size == 30'000 ? 16 : 4;
    for (unsigned held = 0; held != most; ++held) {
      const std::string row(held, 'a');
      all.push_back({row + "a", size});
      if (held != 0) all.push_back({row + "f", size});
      if (held != 0) all.push_back({row + "l", size});
    }
  }
  // Several partial ones; then allocations from them, and frees until they are empty.
  const std::string rows(28, 'a');
  for (unsigned more = 0; more != 9; ++more) {
    all.push_back({rows + "e" + std::string(more, 'a') + "a", 30'000});
    all.push_back({rows + "e" + std::string(more, 'f') + "f", 30'000});
    all.push_back({rows + "e" + std::string(more * 2, 'l') + "l", 30'000});
  }
  // Several partial ones that nobody used last; then the first of them becomes empty, or all are used up.
  for (unsigned partial = 1; partial != 5; ++partial) all.push_back({rows + std::string(partial, 's'), 30'000});
  for (unsigned more = 3; more != 9; ++more) all.push_back({rows + "ssss" + std::string(more, 'f') + "f", 30'000});
  for (unsigned more = 0; more != 7; ++more) all.push_back({rows + "ssss" + std::string(more, 'a') + "a", 30'000});
  // The fast paths: several blocks to a page, so that the next is there already; one that was just freed; and its free.
  for (const char* steps : {"aaa", "aafa", "aaf"}) all.push_back({steps, 500});
  all.push_back({"aaz", 2'000});
  all.push_back({"aaar", 2'000});
  all.push_back({"a", 100'000});
  all.push_back({"af", 100'000});
  return all;
}

// What only a heap can be asked whose blocks go home to the thread they came from, and whose large blocks and whose trim are
// as free of waiting as the rest: lists of others' blocks from the first to where they are sent, and beyond; inboxes that
// are emptied, by their thread, by who posts to one without a thread, and by who fills one whose thread sleeps; spans of
// threads that have ended; blocks of whole grains and of mappings.
inline std::vector<script> scripts_between_threads() {
  std::vector<script> all;
  const auto times = [](unsigned n, char what) { return std::string(n, what); };
  for (unsigned n = 1; n != 6; ++n) all.push_back({times(n, 'n') + times(n, 'f'), 2'000});
  for (unsigned n : {1u, 8u, 9u, 10u}) all.push_back({times(n, 'n') + times(n, 'f'), 30'000});
  for (unsigned n : {1u, 2u, 3u}) {
    all.push_back({times(n, 'x') + times(n, 'f'), 30'000});
    all.push_back({times(n, 'x') + "a", 30'000});
    all.push_back({times(n, 'x') + "a", 2'000});
    all.push_back({times(2 * n, 'a') + times(n, 'i') + "a", 30'000});
    all.push_back({times(2 * n, 'a') + times(2 * n, 'i') + "aa", 30'000});
  }
  for (const char* steps : {"t", "at", "aaaft", "aaafafat", "nnft", "aaiit", "xxfat", "xxaft"})
    all.push_back({steps, 30'000});
  for (const char* steps : {"z", "az", "afz", "m", "am", "afm", "mf", "ar", "aar", "ah"})
    for (std::size_t size : {std::size_t{500}, std::size_t{20'000}, std::size_t{100'000}})
      all.push_back({steps, size});
  for (const char* steps : {"da", "daf", "dnf", "dxf", "daaft"}) all.push_back({steps, 2'000});
  all.push_back({"ar", 600'000});  // into a mapping
  for (const char* steps : {"a", "af", "afa", "ah", "aft", "nf"}) all.push_back({steps, 6 << 20});
  for (const char* steps : {"a", "af", "afa", "ar", "ah", "aft", "nf", "z"}) all.push_back({steps, 40 << 20});
  return all;
}

}  // namespace polder::progress
