// count_at_end — what a process reached that ends by abort() or _exit(), neither of which says so: its counts are written
// first. For the preset coverage (cmake/polder_gtest.cmake).
#include <csignal>

extern "C" {
void __gcov_dump();
void __gcov_reset();
[[noreturn]] void __real__exit(int status);
[[noreturn]] void __wrap__exit(int status) {
  __gcov_dump();
  __gcov_reset();  // what is counted is written once; and the child of vfork ends in its parent's memory, which goes on counting
  __real__exit(status);
}
}

namespace {
[[maybe_unused]] const auto before = std::signal(SIGABRT, [](int) { __gcov_dump(); });
}
