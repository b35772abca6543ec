// Requirement 18: samples are taken while other threads load and unload libraries, fork, and throw exceptions; nobody hangs, and in
// a child the profile goes on.
//   storms [MILLISECONDS]
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "sites.hpp"
#include "written.hpp"

using namespace polder;
using namespace polder::profile_test;

namespace {

std::atomic<bool> enough{false};
std::atomic<long> loads{0}, forks{0}, throws{0}, allocations{0};

void allocate_some() {
  void* p[64];
  for (std::size_t i = 0; i != 64; ++i) p[i] = first_site(16 << (i % 8));
  for (void* q : p) std::free(q);
  allocations += 64;
}

void* allocate(void*) {
  while (!enough) allocate_some();
  return nullptr;
}

void* load(void*) {
  const char* const libraries[] = {"libresolv.so.2", "libanl.so.1", "libBrokenLocale.so.1", "libutil.so.1"};
  while (!enough)
    for (const char* name : libraries)
      if (void* const l = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)) ::dlclose(l), ++loads;
  return nullptr;
}

void* fork_often(void*) {
  while (!enough) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(20);
      allocate_some();
      const int fd = ::memfd_create("profile", 0);
      ::_exit(the_heap::profile_write(fd, POLDER_PROFILE_BLOCKS) == 0 ? 0 : 1);
    }
    int status = 0;
    probe::expect(child > 0 && ::waitpid(child, &status, 0) == child, "fork");
    probe::expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a child ended with %#x", status);
    ++forks;
  }
  return nullptr;
}

struct allocates_in_its_end {
  ~allocates_in_its_end() { std::free(second_site(5000)); }
};

[[gnu::noinline]] void fall(int depth) {
  const allocates_in_its_end a;
  if (depth == 0) throw std::bad_alloc();
  fall(depth - 1);
}

void* throw_often(void*) {
  while (!enough) try {
      fall(20);
    } catch (const std::bad_alloc&) {
      ++throws;
    }
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned milliseconds = argc > 1 ? unsigned(std::atoi(argv[1])) : 2000;
  ::alarm(milliseconds / 1000 + 60);
  probe::expect(the_heap::profile_start(2048) == 0, "polder_profile_start");
  pthread_t crew[5];
  void* (*const roles[])(void*) = {allocate, allocate, load, fork_often, throw_often};
  for (int i = 0; i != 5; ++i)
    probe::expect(::pthread_create(&crew[i], nullptr, roles[i], nullptr) == 0, "pthread_create");
  for (unsigned i = 0; i != milliseconds / 20; ++i) {
    ::usleep(20'000);
    // On and off again meanwhile, and written.
    if (i % 2 == 0) the_heap::profile_stop();
    else the_heap::profile_start(2048);
    write_now(i % 3 == 0 ? POLDER_PROFILE_WASTE : POLDER_PROFILE_BLOCKS, false);
  }
  enough = true;
  for (pthread_t t : crew) ::pthread_join(t, nullptr);
  const written w = write_now(POLDER_PROFILE_BLOCKS);
  probe::say("%ld libraries, %ld children, %ld exceptions, %ld allocations, %zu stacks", loads.load(), forks.load(),
             throws.load(), allocations.load(), w.stacks.size());
  probe::expect(loads > 0 && forks > 0 && throws > 0, "one of them did nothing");
  probe::expect(w.drawn_bytes_of(sites[0]) > 0, "nothing was drawn");
  probe::expect(w.drawn_bytes_of(sites[1]) > 0, "nothing was drawn in destructors");
  probe::expect(w.live_bytes_of(sites[0]) == 0 && w.live_bytes_of(sites[1]) == 0, "something lives that was freed");
}
