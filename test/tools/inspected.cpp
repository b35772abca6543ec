// inspected — a program that says where its blocks are and what the heap counts, and then waits to be looked at.
#include <dlfcn.h>
#include <polder.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../probe/expect.hpp"
#include "../probe/opaque.hpp"

using namespace polder::probe;

namespace {

void* block_of_another;
void* freed_of_another;
void* block_in_a_crowd;
pthread_barrier_t allocated;

void* another(void*) {
  block_of_another = opaque(std::malloc(100));
  freed_of_another = opaque(std::malloc(300));
  ::pthread_barrier_wait(&allocated);
  for (;;) ::pause();
}

// One more of so many that a LAB keeps nothing for its thread.
void* one_of_many(void*) {
  block_in_a_crowd = opaque(std::malloc(100));
  ::pthread_barrier_wait(&allocated);
  for (;;) ::pause();
}

char text[4096];

void tell(const char* what, const void* p) { std::snprintf(text + std::strlen(text), 64, "%s %p\n", what, p); }
void tell(const char* what, std::uint64_t n) {
  std::snprintf(text + std::strlen(text), 64, "%s %llu\n", what, static_cast<unsigned long long>(n));
}

}  // namespace

int main() {
  ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  auto* const read =
      reinterpret_cast<decltype(&polder_read_statistics)>(::dlsym(RTLD_DEFAULT, "polder_read_statistics"));
  expect(read != nullptr, "not on Polder");
  ::pthread_barrier_init(&allocated, nullptr, 2);
  pthread_t thread;
  expect(::pthread_create(&thread, nullptr, another, nullptr) == 0, "pthread_create");
  ::pthread_barrier_wait(&allocated);
  for (long i = 0; i != 2 * ::sysconf(_SC_NPROCESSORS_CONF); ++i) {
    expect(::pthread_create(&thread, nullptr, one_of_many, nullptr) == 0, "pthread_create");
    ::pthread_barrier_wait(&allocated);
  }

  void* const live = opaque(std::malloc(100));
  void* const freed = opaque(std::malloc(100));
  void* const last = opaque(std::malloc(100));
  void* const large = opaque(std::malloc(200'000));
  void* const huge = opaque(std::malloc(50'000'000));
  std::memset(live, 0xff, 100);
  std::memset(last, 0xff, 100);
  // Spans that run empty, and stay lists of free blocks.
  static void* passing[200];
  for (void*& p : passing) p = opaque(std::malloc(2000));
  for (void* p : passing) std::free(p);
  std::free(opaque(freed));
  std::free(opaque(freed_of_another));  // which waits to go home
  static int no_block;
  tell("live", live);
  tell("freed", freed);
  tell("another", block_of_another);
  tell("crowded", block_in_a_crowd);
  tell("passed", passing[0]);
  tell("large", large);
  tell("huge", huge);
  tell("none", &no_block);
  polder_statistics s;
  s.size = sizeof s;
  expect(read(&s) == 0, "polder_read_statistics");
  tell("allocated", s.allocated);
  tell("active", s.active);
  tell("large_bytes", s.large);
  tell("spans", s.spans);
  tell("labs", s.labs);
  tell("threads", s.threads);
  tell("refills", s.refills);
  tell("remote_frees", s.remote_frees);
  tell("posts", s.posts);
  tell("end", std::uint64_t{0});
  [[maybe_unused]] const auto written = ::write(1, text, std::strlen(text));
  ::alarm(120);
  for (;;) ::pause();
}
