// The headers of the standard allocator and of std::pmr, in programs without RTTI, without exceptions, and without both
// (CMakeLists.txt), of which another file has them.
#include "headers.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <vector>

#include <polder/allocator.hpp>
#include <polder/memory_resource.hpp>

#include "../probe/expect.hpp"

#if defined(__cpp_rtti) && defined(__cpp_exceptions)
#error "nothing is left out"
#endif

using polder::probe::expect;

namespace {

void containers_live_in_the_heap() {
  const std::vector<int, polder::allocator<int>> v(1000, 5);
  expect(polder_owns(v.data()) == 1, "a vector is elsewhere");
  const std::pmr::vector<int> w(1000, 5, polder::resource());
  expect(polder_owns(w.data()) == 1, "a vector of std::pmr is elsewhere");
}

void resources_are_equal() {
  const polder::memory_resource other;
  const polder::memory_resource& one = *polder::resource();
  expect(one.is_equal(one), "a resource is unequal to itself");
  expect(!one.is_equal(*std::pmr::new_delete_resource()), "a resource is equal to one of another class");
#ifdef __cpp_rtti
  expect(one.is_equal(other), "two resources are unequal");
#else
  expect(!one.is_equal(other), "without RTTI two resources are equal");
#endif
  expect(headers::two_resources_are_equal(), "in a file with RTTI two resources are unequal");
}

// In a child. 0: by an exception of this class; else by which signal.
template <class Exception, class F>
int ends_by(F allocate) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
#ifdef __cpp_exceptions
    try {
      allocate();
    } catch (const Exception&) {
      ::_exit(0);
    }
#else
    allocate();
#endif
    ::_exit(1);
  }
  int status = 0;
  expect(child > 0 && ::waitpid(child, &status, 0) == child, "no child");
  expect(WIFSIGNALED(status) || WEXITSTATUS(status) == 0, "memory that there is not was had");
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

void want_of_memory_is_told() {
#ifdef __cpp_exceptions
  constexpr int right = 0;
#else
  constexpr int right = SIGABRT;
#endif
  volatile std::size_t n = PTRDIFF_MAX;
  expect(ends_by<std::bad_alloc>([&] { static_cast<void>(polder::allocator<char>().allocate(n)); }) == right,
         "allocate");
  expect(
      ends_by<std::bad_alloc>([&] { static_cast<void>(polder::allocator<char>().allocate_at_least(n)); }) == right,
      "allocate_at_least");
  expect(
      ends_by<std::bad_array_new_length>([&] { static_cast<void>(polder::allocator<int>().allocate(n)); }) == right,
      "allocate, of a size that overflows");
  expect(ends_by<std::bad_alloc>([&] { static_cast<void>(polder::resource()->allocate(n)); }) == right, "std::pmr");
}

}  // namespace

int main() {
  containers_live_in_the_heap();
  resources_are_equal();
  want_of_memory_is_told();
}
