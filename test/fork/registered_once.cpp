// Requirement 1: the heap registers its fork handlers exactly once, whoever comes first.
//
// Every pthread_atfork of a shared object ends in libc's __register_atfork, called through the dynamic linker; the one
// defined here comes before libc's and counts the callers outside the program and libc.
#include <dlfcn.h>
#include <atomic>
#include <cstdlib>

#include "child_work.hpp"

using namespace polder;

static std::atomic<int> registered;

extern "C" int __register_atfork(void (*prepare)(), void (*parent)(), void (*child)(), void* handle) {
  registered.fetch_add(1);
  using real_type = int (*)(void (*)(), void (*)(), void (*)(), void*);
  auto real = reinterpret_cast<real_type>(::dlsym(RTLD_NEXT, "__register_atfork"));
  return real ? real(prepare, parent, child, handle) : ENOMEM;
}

static void* allocate(void*) {
  for (auto size : probe::small_sizes) fork_test::unmade(fork_test::made(size, 1));
  return nullptr;
}

int main() {
  ::alarm(30);
  pthread_t threads[8];
  for (auto& thread : threads) ::pthread_create(&thread, nullptr, allocate, nullptr);
  for (auto thread : threads) ::pthread_join(thread, nullptr);
  allocate(nullptr);
  pid_t child = ::fork();
  if (child == 0) {
    allocate(nullptr);
    pthread_t thread;
    ::pthread_create(&thread, nullptr, allocate, nullptr);
    ::pthread_join(thread, nullptr);
    ::_exit(registered.load() == 1 ? 0 : 2);
  }
  fork_test::wait_for(child, "req 1: child that counts registrations");
  // glibc's own malloc registers nothing: there the count is 0, and this test fails.
  probe::expect(registered.load() == 1, "req 1: __register_atfork was called %d times, not once",
                registered.load());
}
