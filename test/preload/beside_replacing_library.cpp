// Beside a library that replaces clock_gettime and syscall by functions that allocate (requirement 4), before the heap in
// LD_PRELOAD and behind it: threads work, end, and leave memory to those that come after.
//
//   beside_replacing_library LIBRARY [work]
#include <sys/syscall.h>

#include <thread>
#include <vector>

#include "../conformance/calls.hpp"
#include "frozen_time.hpp"
#include "subject.hpp"

namespace {

namespace subject = conformance::subject;

constexpr std::size_t sizes[] = {16, 200, 3000, 40'000, 300'000, 3 << 20};

std::vector<void*> work() {
  std::vector<void*> kept;
  for (unsigned round = 0; round != 200; ++round) {
    for (const std::size_t n : sizes) {
      void* const p = subject::malloc(n);
      if (p == nullptr) std::exit(4);
      std::memset(p, 1, std::min(n, std::size_t{5000}));
      if (round % 8 != 0) subject::free(p);
      else kept.push_back(p);
    }
    if (round % 50 == 0) ::usleep(20'000);  // the heap gives back as time goes by
  }
  return kept;
}

int at_work() {
  timespec now;
  if (::clock_gettime(CLOCK_MONOTONIC, &now) != 0 || now.tv_sec != preload::frozen_time.tv_sec) return 5;
  if (::syscall(SYS_getpid) != ::getpid()) return 6;
  for (unsigned generation = 0; generation != 3; ++generation) {
    std::vector<void*> left[4];
    std::vector<std::thread> threads;
    for (auto& mine : left) threads.emplace_back([&mine] { mine = work(); });
    for (auto& each : threads) each.join();
    for (auto& theirs : left)
      for (void* p : theirs) subject::free(p);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3) return at_work();
  if (argc != 2) return 2;
  const std::string heap = preload::subject_library(), library = argv[1];
  preload::tally tally(4);
  for (const std::string& both : {heap + ":" + library, library + ":" + heap}) {
    const auto r = preload::run_child({preload::self_path(), library, "work"},
                                      preload::environment({"LD_PRELOAD=" + both}), 60);
    tally.check(r.exited(0) && r.err.empty(), "LD_PRELOAD=" + both, r);
  }
  return tally.result();
}
