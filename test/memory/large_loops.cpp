// Requirement 14: blocks of 64 KiB to 8 MiB are allocated, touched and freed again and again, one or eight of them at a time, by
// as many threads as are asked for. Once it is warm: at most one system call in 100 blocks, by any thread of the process, and in a
// pass at most 2 % of the page faults of the first.
//   large_loops THREADS [BLOCKS]
//     BLOCKS: of each size, by each thread, where it is warm (2000)
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>

#include "../probe/expect.hpp"
#include "../probe/opaque.hpp"
#include "../probe/system_calls.hpp"

using namespace polder;

namespace {

constexpr unsigned most_at_a_time = 8;

struct shape {
  std::size_t size;
  unsigned at_a_time, threads;
  long passes;
};

// All threads' way from one part to the next. It spins: a call here would be counted as the heap's.
class gate {
 public:
  void pass(unsigned threads) {
    const unsigned round = round_.load();
    if (come_.fetch_add(1) + 1 == threads) come_.store(0), round_.store(round + 1);
    else
      while (round_.load() == round) asm volatile("" : : : "memory");
  }

 private:
  std::atomic<unsigned> come_{0}, round_{0};
};

long faults() {
  rusage u{};
  ::getrusage(RUSAGE_SELF, &u);
  return u.ru_minflt + u.ru_majflt;
}

class loop {
 public:
  loop(const shape& s, probe::system_calls& calls) : s_(s), calls_(calls) {}

  // In a process of its own, or its first pass would not be the first.
  void run() {
    ::alarm(60);
    pthread_t others[8];
    for (unsigned i = 1; i != s_.threads; ++i)
      probe::expect(::pthread_create(&others[i], nullptr, work, this) == 0, "pthread_create");
    const long start = faults();
    passes(1);
    const long first = faults() - start;
    passes(s_.passes / 10 + 2);
    const long warm = faults();
    calls_.count_from_here();
    passes(s_.passes);
    calls_.count_to_here();
    const long more = faults() - warm;
    for (unsigned i = 1; i != s_.threads; ++i) ::pthread_join(others[i], nullptr);
    const long blocks = s_.passes * long(s_.at_a_time) * long(s_.threads);
    probe::say("%5zu KiB, %u at a time, %u threads: %ld blocks, %ld calls; %ld faults in the first pass, then %.2f",
               s_.size >> 10, s_.at_a_time, s_.threads, blocks, calls_.all(), first,
               double(more) / double(s_.passes));
    probe::expect(calls_.all() * 100 <= blocks, "req 14: %ld system calls for %ld blocks", calls_.all(), blocks);
    probe::expect(more * 50 <= first * s_.passes, "req 14: %ld page faults in %ld passes, after %ld in the first",
                  more, s_.passes, first);
  }

 private:
  static void* work(void* self) {
    auto& me = *static_cast<loop*>(self);
    me.passes(1);
    me.passes(me.s_.passes / 10 + 2);
    me.passes(me.s_.passes);
    return nullptr;
  }
  void passes(long n) {
    gate_.pass(s_.threads);
    while (n-- != 0) pass();
    gate_.pass(s_.threads);
  }
  void pass() const {
    void* blocks[most_at_a_time];
    for (unsigned i = 0; i != s_.at_a_time; ++i) {
      auto* const p = static_cast<char*>(probe::opaque(std::malloc(s_.size)));
      probe::expect(p != nullptr, "no memory");
      for (std::size_t at = 0; at < s_.size; at += 4096) static_cast<volatile char*>(p)[at] = 1;
      blocks[i] = p;
    }
    for (unsigned i = 0; i != s_.at_a_time; ++i) std::free(blocks[i]);
  }

  const shape s_;
  probe::system_calls& calls_;
  gate gate_;
};

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 0;
  const long blocks = argc > 2 ? std::atol(argv[2]) : 2000;
  probe::expect(threads >= 1 && threads <= 8 && blocks >= long(most_at_a_time),
                "usage: large_loops THREADS [BLOCKS]");
  probe::system_calls calls;
  bool ok = true;
  for (const std::size_t kib : {64, 256, 1024, 2048, 8192})
    for (const unsigned at_a_time : {1u, most_at_a_time}) {
      const shape s{kib << 10, at_a_time, unsigned(threads), blocks / long(at_a_time)};
      ok &= calls.trace([&] { loop(s, calls).run(); }) == 0;
    }
  return ok ? 0 : 1;
}
