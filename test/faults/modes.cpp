// Requirement 17: the heap says truthfully in which modes it works, and so does the doctor: with membarrier, advice and threads of
// its own, and where the kernel refuses them.
//   modes DOCTOR
#include <linux/membarrier.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../probe/again.hpp"
#include "../probe/opaque.hpp"
#include "../probe/pages.hpp"
#include "../probe/the_heap.hpp"
#include "../probe/thp.hpp"
#include "refuse.hpp"

using namespace polder;
using polder::faults::refuse;

namespace {

pthread_barrier_t allocated;

void* allocate_and_stay(void*) {
  std::free(probe::opaque(std::malloc(100)));
  ::pthread_barrier_wait(&allocated);
  ::pause();
  return nullptr;
}

// So many threads and so much memory that the heap wants a thread of its own.
polder_modes at_work(bool may_start_threads) {
  ::pthread_barrier_init(&allocated, nullptr, 2);
  pthread_t thread;
  probe::expect(::pthread_create(&thread, nullptr, allocate_and_stay, nullptr) == 0, "no thread");
  ::pthread_barrier_wait(&allocated);
  if (!may_start_threads) {
    const long calls[] = {SYS_clone, SYS_clone3};
    refuse(calls, 2, EPERM);
  }
  void* blocks[32];
  for (void*& b : blocks) b = std::memset(probe::opaque(std::malloc(1 << 20)), 1, 1 << 20);
  for (void* b : blocks) std::free(b);
  return the_heap::modes();
}

// Linux 5.14.
bool can_populate() {
  const std::size_t bytes = probe::page_size();
  void* const p = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  constexpr int populate_write = 23;
  const bool can = p != MAP_FAILED && ::madvise(p, bytes, populate_write) == 0;
  if (p != MAP_FAILED) ::munmap(p, bytes);
  return can;
}

int as_it_is() {
  const polder_modes m = at_work(true);
  const bool there = ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
  probe::expect(m.membarrier == there, "req 17: membarrier %s, told is %d", there ? "works" : "is refused",
                m.membarrier);
  probe::expect(m.background == POLDER_BACKGROUND_RUNS && m.background_error == 0,
                "req 17: background %d, error %d", m.background, m.background_error);
  probe::expect(m.page_size == probe::page_size(), "req 8: pages of %zu, told is %zu", probe::page_size(),
                m.page_size);
  const bool asks = probe::thp().can_be_had() && probe::huge_pages_are_of_use();
  probe::expect(!asks || m.huge_pages == POLDER_HUGE_PAGES_LARGE, "req 17: huge pages %d", m.huge_pages);
  return 0;
}

int switched_off() {
  const polder_modes m = at_work(true);
  probe::expect(
      m.background == POLDER_BACKGROUND_OFF && m.huge_pages == POLDER_HUGE_PAGES_OFF && m.cgroup_limit == 0,
      "req 17: background %d, huge pages %d", m.background, m.huge_pages);
  return 0;
}

int refused() {
  const polder_modes m = at_work(false);
  probe::expect(m.membarrier == 0, "req 17: membarrier is refused, told is %d", m.membarrier);
  probe::expect(m.background == POLDER_BACKGROUND_REFUSED && m.background_error == EPERM,
                "req 17: a thread is refused, told is %d, error %d", m.background, m.background_error);
  probe::expect(
      m.huge_pages == (probe::huge_pages_are_of_use() ? POLDER_HUGE_PAGES_REFUSED : POLDER_HUGE_PAGES_OFF),
      "req 17: advice is refused, told are huge pages %d", m.huge_pages);
  return 0;
}

void refuse_both() {
  const long calls[] = {SYS_membarrier, SYS_madvise};
  refuse(calls, 2, EPERM);
}

constexpr unsigned most_processors = 8192;
unsigned usable_processors() {
  unsigned long mask[most_processors / (8 * sizeof(unsigned long))] = {};
  const long bytes = ::syscall(SYS_sched_getaffinity, 0, sizeof mask, mask);
  unsigned count = 0;
  for (long i = 0; i < bytes / long(sizeof *mask); ++i) count += unsigned(__builtin_popcountl(mask[i]));
  return count;
}

// Where there are so many, the kernel refuses a mask of fewer.
void be_large() { faults::refuse_smaller(SYS_sched_getaffinity, most_processors / 8, EINVAL); }

// Whether a line of the text has both words, in this order.
bool says(const char* text, const char* first, const char* second) {
  while (text != nullptr && (text = std::strstr(text, first)) != nullptr) {
    const char* const end = std::strchr(text, '\n');
    const char* const found = std::strstr(text, second);
    if (found != nullptr && (end == nullptr || found < end)) return true;
    text = end;
  }
  return false;
}

struct told {
  const char *what, *how;
};

template <std::size_t n, class Prepare>
bool doctor_says(const char* path, const char* options, const told (&lines)[n], Prepare prepare) {
  const char* args[] = {"doctor", path, nullptr};
  const char* settings[] = {"LD_PRELOAD=", options, nullptr};  // it has the heap in it
  const auto outcome = probe::run_again(args, settings, 50, prepare);
  bool right = outcome.passed();
  for (const told& line : lines) {
    if (says(outcome.err, line.what, line.how)) continue;
    probe::say("req 17: the doctor should say of \"%s\" \"%s\":\n%s", line.what, line.how, outcome.err);
    right = false;
  }
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  ::alarm(110);
  const auto is = [&](const char* what) { return argc > 1 && std::strcmp(argv[1], what) == 0; };
  if (is("as-it-is")) return as_it_is();
  if (is("switched-off")) return switched_off();
  if (is("refused")) return refused();
  if (is("doctor")) {
    ::dup2(2, 1);
    ::execl(argv[2], argv[2], nullptr);
    return 127;
  }
  if (::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) < 0) probe::skip("no seccomp here");
  const char* plain[] = {nullptr};
  const char* off[] = {"POLDER_OPTIONS=background=0,thp=off,cgroup=0", nullptr};
  const char* as[] = {"as-it-is", nullptr};
  const char* switched[] = {"switched-off", nullptr};
  const char* not_had[] = {"refused", nullptr};
  bool right = probe::passes("as it is", as, plain, 50);
  right &= probe::passes("switched off", switched, off, 50);
  right &= probe::passes("refused", not_had, plain, 50, refuse_both);
  if (argc > 1) {
    const told as_found[] = {{"membarrier", "registered"},
                             {"background thread", "may run"},
                             {"populate", can_populate() ? "works" : "refused"}};
    constexpr told where_refused[] = {{"membarrier", "refused"},
                                      {"background thread", "refused: Operation not permitted"},
                                      {"populate", "refused"},
                                      {"lazy release", "refused"}};
    right &= doctor_says(argv[1], nullptr, as_found, [] {});
    right &= doctor_says(argv[1], nullptr, where_refused, [] {
      refuse_both();
      const long calls[] = {SYS_clone, SYS_clone3};
      refuse(calls, 2, EPERM);
    });
    constexpr told where_off[] = {{"background thread", "off by option"},
                                  {"container's limit", "not looked for"},
                                  {"target", "not looked for"},
                                  {"populate", "off by option"}};
    right &= doctor_says(argv[1], "POLDER_OPTIONS=background=0,cgroup=0,populate=0", where_off, [] {});
    char processors[30];
    std::snprintf(processors, sizeof processors, " %u usable", usable_processors());
    const told on_a_large_machine[] = {{"processors", processors}};
    right &= doctor_says(argv[1], nullptr, on_a_large_machine, be_large);
  }
  return right ? 0 : 1;
}
