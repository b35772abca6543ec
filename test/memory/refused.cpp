// What the system refuses costs no more with every try, and what nobody uses any more is not refused to others.
//   refused locked    its memory is locked (mlockall), so that the system takes nothing back: a thousand blocks beside many free ones
//                     ask it to only now and then
//   refused limited   under a cap that has room a block is refused by the system (RLIMIT_AS): with a dozen idle threads each refusal
//                     takes a bounded number of calls
//   refused data | address_space
//                     a heap that has filled RLIMIT_DATA or RLIMIT_AS and was freed has given room back a few steps of decay later
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

#include "../probe/expect.hpp"
#include "../probe/opaque.hpp"
#include "../probe/system_calls.hpp"

using namespace polder;

namespace {

void* allocate(std::size_t n) { return probe::opaque(std::malloc(n)); }

// Three of four blocks are free, in holes that are too short for what is asked for next.
void locked(probe::system_calls& calls) {
  constexpr int blocks = 2'000, more = 1'000;
  if (::mlockall(MCL_CURRENT | MCL_FUTURE) != 0) probe::skip("memory cannot be locked here");
  static char* held[blocks];
  for (char*& p : held) p = static_cast<char*>(allocate(60'000));
  std::sort(held, held + blocks);
  for (int i = 0; i != blocks; ++i)
    if (i % 4 != 0) std::free(held[i]);
  calls.count_from_here();
  for (int i = 0; i != more; ++i) probe::expect(allocate(250'000) != nullptr, "no memory");
  calls.count_to_here();
  const long asked = calls.of(SYS_madvise);
  probe::say("%d blocks, %ld calls of madvise", more, asked);
  probe::expect(asked < 10 * more, "%ld calls of madvise for %d blocks: locked memory is asked for again and again",
                asked, more);
}

pthread_barrier_t there;
void* idle(void*) {
  std::free(allocate(100));
  ::pthread_barrier_wait(&there);
  ::pause();
  return nullptr;
}

void limited(probe::system_calls& calls) {
  constexpr unsigned threads = 12, tries = 10;
  ::pthread_barrier_init(&there, nullptr, threads + 1);
  for (unsigned i = 0; i != threads; ++i) {
    pthread_t thread;
    probe::expect(::pthread_create(&thread, nullptr, idle, nullptr) == 0, "pthread_create");
  }
  ::pthread_barrier_wait(&there);
  const rlimit some{1 << 20, 1 << 20};  // less than there is already
  probe::expect(::setrlimit(RLIMIT_AS, &some) == 0, "setrlimit: %s", std::strerror(errno));
  calls.count_from_here();
  for (unsigned i = 0; i != tries; ++i) {
    errno = 0;
    probe::expect(allocate(100 << 20) == nullptr && errno == ENOMEM, "there is memory, or errno does not say so");
  }
  calls.count_to_here();
  probe::say("%u refusals beside %u idle threads, %ld system calls", tries, threads, calls.all());
  probe::expect(calls.all() < tries * 200, "%ld system calls for %u refusals", calls.all(), tries);
}

constexpr std::size_t room = 800 << 20;

// The heap is to begin under the limit.
void limit_and_begin_again(int what, char** argv) {
  const rlimit some{room, room};
  probe::expect(::setrlimit(what, &some) == 0, "setrlimit: %s", std::strerror(errno));
  ::execl("/proc/self/exe", argv[0], argv[1], "limited", nullptr);
  probe::expect(false, "exec: %s", std::strerror(errno));
}

void fill() {
  constexpr std::size_t block = 100'000, most = 20'000, wanted = room / 2;
  const auto is_there = [] {
    void* const p = ::mmap(nullptr, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p != MAP_FAILED && ::munmap(p, wanted) == 0;
  };
  static void* held[most];
  std::size_t count = 0;
  while (count != most && (held[count] = allocate(block)) != nullptr) *static_cast<char*>(held[count++]) = 1;
  probe::expect(!is_there(), "%zu blocks do not fill what there is", count);
  for (std::size_t i = 0; i != count; ++i) std::free(held[i]);
  int waited = 0;
  for (; waited != 5'000 && !is_there(); ++waited) {
    ::usleep(1'000);
    std::free(allocate(block));
  }
  probe::say("%zu blocks, freed; %zu MiB for others after some %d ms", count, wanted >> 20, waited);
  probe::expect(is_there(), "what was freed is refused to others");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "data" || what == "address_space") {
    if (argc == 2) limit_and_begin_again(what == "data" ? RLIMIT_DATA : RLIMIT_AS, argv);
    return fill(), 0;
  }
  probe::expect(what == "locked" || what == "limited", "usage: refused locked|limited|data|address_space");
  probe::system_calls calls;
  const int status = calls.trace([&] { (what == "locked" ? locked : limited)(calls); });
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
