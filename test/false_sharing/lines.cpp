// Whose blocks lie in one cache line? Threads take turns, so that every run makes the same calls in the same order, and all
// of them are alive until the lines have been counted: nothing is adopted.
//
//   active    each thread allocates, frees its own and allocates again; a line that two threads have blocks in was shared
//             by the allocator alone
//   passive   the first thread allocates blocks side by side, keeps some and hands the others out; each other thread
//             frees what it got and allocates as much: a line of the first one's blocks that two threads then have blocks
//             in was torn apart
#include <pthread.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <vector>

#include "../probe/opaque.hpp"

namespace {

constexpr unsigned threads = 8;
constexpr std::uintptr_t line_size = 64;
constexpr std::size_t sizes[] = {1, 8, 16, 24, 40, 48, 72, 100, 200, 520, 1000, 2100, 5000, 20'000};
constexpr std::size_t kinds = std::size(sizes);
constexpr std::size_t rounds = 120;

struct block {
  void* address = nullptr;
  std::size_t size = 0;
};
struct line {
  std::uintptr_t number;
  unsigned thread;
};

// Every step of a test is done by thread 0, then 1, and so on; nobody begins the next one before all have done it.
class turns {
 public:
  template <class Step>
  void in_turn(unsigned who, Step step) {
    const unsigned mine = steps_[who]++ * threads + who;
    pthread_mutex_lock(&mutex_);
    while (next_ != mine) pthread_cond_wait(&moved_, &mutex_);
    step();
    ++next_;
    pthread_cond_broadcast(&moved_);
    pthread_mutex_unlock(&mutex_);
  }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t moved_ = PTHREAD_COND_INITIALIZER;
  unsigned next_ = 0;
  unsigned steps_[threads]{};  // each its thread's own
};

struct test {
  turns order;
  block held[threads][rounds * kinds];
  block given[rounds * kinds];  // what the first thread allocated, before it handed some out
  bool passive = false;
  std::size_t shared = 0;
  std::size_t lines = 0;
};
test it;

void allocate(block& b, std::size_t size) {
  b = {polder::probe::opaque(std::malloc(size)), size};
  if (b.address == nullptr) std::abort();
  std::memset(b.address, 1, size);
}

void free_block(block& b) {
  std::free(b.address);
  b.address = nullptr;
}

void active(unsigned who) {
  block* mine = it.held[who];
  for (std::size_t round = 0; round < rounds; ++round) {
    it.order.in_turn(who, [&] {
      for (std::size_t kind = 0; kind < kinds; ++kind) allocate(mine[round * kinds + kind], sizes[kind]);
    });
  }
  for (std::size_t first = 0; first < 3; ++first) {  // every third block goes and comes
    it.order.in_turn(who, [&] {
      for (std::size_t i = first; i < rounds * kinds; i += 3) free_block(mine[i]);
    });
    it.order.in_turn(who, [&] {
      for (std::size_t i = first; i < rounds * kinds; i += 3) allocate(mine[i], sizes[i % kinds]);
    });
  }
}

void passive(unsigned who) {
  // Blocks of one kind one after the other; neighbours belong to different threads, one in eight to who allocated it.
  it.order.in_turn(who, [&] {
    if (who != 0) return;
    for (std::size_t i = 0; i < rounds * kinds; ++i) {
      allocate(it.given[i], sizes[i / rounds]);
      it.held[i % threads][i] = it.given[i];
    }
  });
  block* mine = it.held[who];
  it.order.in_turn(who, [&] {
    for (std::size_t i = who; who != 0 && i < rounds * kinds; i += threads) {
      free_block(mine[i]);
      allocate(mine[i], sizes[i / rounds]);
    }
  });
  it.order.in_turn(who, [&] {  // once more, now of its own
    for (std::size_t i = who; who != 0 && i < rounds * kinds; i += threads) free_block(mine[i]);
    for (std::size_t i = who; who != 0 && i < rounds * kinds; i += threads) allocate(mine[i], sizes[i / rounds]);
  });
}

void note(std::vector<line>& lines, const block& b, unsigned who) {
  if (b.address == nullptr) return;
  const auto address = reinterpret_cast<std::uintptr_t>(b.address);
  for (auto n = address / line_size; n <= (address + b.size - 1) / line_size; ++n) lines.push_back({n, who});
}

void count() {
  constexpr unsigned giver = threads;  // of the blocks as they were
  std::vector<line> lines;
  for (unsigned who = 0; who < threads; ++who) {
    for (const block& b : it.held[who]) note(lines, b, who);
  }
  if (it.passive) {
    for (const block& b : it.given) note(lines, b, giver);
  }
  std::sort(lines.begin(), lines.end(), [](const line& a, const line& b) {
    return a.number != b.number ? a.number < b.number : a.thread < b.thread;
  });
  for (auto first = lines.begin(); first != lines.end();) {
    const auto next = std::find_if(first, lines.end(), [&](const line& l) { return l.number != first->number; });
    const bool counts = !it.passive || std::prev(next)->thread == giver;
    const bool two =
        std::any_of(first, next, [&](const line& l) { return l.thread != first->thread && l.thread != giver; });
    it.lines += counts;
    it.shared += counts && two;
    first = next;
  }
}

void* live(void* number) {
  const auto who = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(number));
  if (it.passive) passive(who);
  else active(who);
  it.order.in_turn(who, [&] {
    if (who == 0) count();
  });
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  const bool known = argc == 2 && (std::strcmp(argv[1], "active") == 0 || std::strcmp(argv[1], "passive") == 0);
  if (!known) {
    std::fprintf(stderr, "usage: %s active|passive\n", argv[0]);
    return 2;
  }
  it.passive = argv[1][0] == 'p';
  pthread_t crew[threads];
  for (unsigned who = 0; who < threads; ++who) {
    if (pthread_create(&crew[who], nullptr, live, reinterpret_cast<void*>(std::uintptr_t{who})) != 0) return 1;
  }
  for (pthread_t thread : crew) pthread_join(thread, nullptr);
  // What a heap's design admits: several threads share one of Michael's processor heaps, and allocate in turn from one
  // superblock. Of lines with blocks of two threads there are few all the same.
  const char* const heap = std::getenv("POLDER_TEST_HEAP");
  const std::size_t admitted = heap && std::strncmp(heap, "michael", 7) == 0 ? it.lines / 100 : 0;
  std::printf("%s: %zu of %zu lines are shared by threads\n", argv[1], it.shared, it.lines);
  return it.shared <= admitted && it.lines != 0 ? 0 : 1;
}
