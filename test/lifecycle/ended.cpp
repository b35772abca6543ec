// Requirements 12 and 13: threads that end outside the heap without a word. Nobody's destructor tells the heap; it asks the kernel.
// What they leave others allocate from, their buffers are the next threads', and nothing is stranded.
//   ended exit      threads of the C library that leave by the raw exit system call
//   ended clone     threads that no C library knows, each with thread-local storage of its own
#include <malloc.h>
#include <pthread.h>

#include <cstring>

#include "../probe/made.hpp"
#include "../probe/resident.hpp"
#include "heap_now.hpp"
#include "kernel_thread.hpp"

using namespace polder;
using namespace polder::lifecycle;

namespace {

constexpr std::size_t size = 256, each = 8192;  // 2 MiB in blocks
constexpr int threads = 24, short_lives = 400;
void* blocks[threads][each];

// What a thread does in its life; then it ends.
struct life {
  void** place;  // where its blocks are left, or null: a short life
  pid_t number = 0;

  void live() {
    number = pid_t(::syscall(SYS_gettid));
    if (place == nullptr) return probe::unmade(probe::made(size, 1));
    for (std::size_t i = 0; i != each; ++i) place[i] = probe::made(size, std::uint32_t(i));
    for (std::size_t i = 0; i != each; ++i)
      if (i % 4 != 0) probe::unmade(place[i]), place[i] = nullptr;
  }
};

void in_a_thread_of_the_c_library(life& l) {
  pthread_t thread;
  const auto run = [](void* self) -> void* {
    static_cast<life*>(self)->live();
    ::syscall(SYS_exit, 0);
    return nullptr;
  };
  probe::expect(::pthread_create(&thread, nullptr, run, &l) == 0, "pthread_create");
  ::pthread_join(thread, nullptr);
  await_end(l.number);
}

void in_a_thread_of_the_kernel(life& l) {
  kernel_thread thread;
  const auto run = [](void* self) { return static_cast<life*>(self)->live(), 0; };
  thread.start(run, &l);
  thread.join();
}

void expect_little_more(const char* what, std::size_t before) {
  const std::size_t now = heap_now().active;
  probe::say("%s: %zu KiB in spans, %zu before", what, now >> 10, before >> 10);
  probe::expect(now <= before + (1 << 20), "req 12: %s needs more than there was", what);
}

}  // namespace

int main(int argc, char** argv) {
  ::alarm(60);
  const bool cloned = argc > 1 && std::strcmp(argv[1], "clone") == 0;
  probe::expect(cloned || (argc > 1 && std::strcmp(argv[1], "exit") == 0), "usage: ended exit|clone");
  if (cloned && !kernel_thread::are_possible())
    probe::skip("the dynamic linker lays out no thread-local storage here");
  const auto run = cloned ? in_a_thread_of_the_kernel : in_a_thread_of_the_c_library;
  probe::unmade(probe::made(100, 1));
  const std::size_t at_first = heap_now().active;

  for (auto& place : blocks) {
    life l{.place = place};
    run(l);
  }
  ::malloc_trim(0);
  const polder_statistics left = heap_now();
  probe::say("%d threads ended, %lu buffers have a thread still", threads, (unsigned long)left.threads);
  probe::expect(left.threads <= 1, "req 12: the buffers of threads that ended are taken for theirs still");

  // Three blocks of four are free in what they left.
  for (auto& place : blocks)
    for (std::size_t i = 0; i != each; ++i)
      if (i % 4 != 0) place[i] = probe::made(size, std::uint32_t(i));
  expect_little_more("what others allocate instead", left.active);
  for (auto& place : blocks)
    for (void* p : place) probe::unmade(p);
  ::malloc_trim(0);
  expect_little_more("all freed, and trimmed", at_first);

  const auto buffers = heap_now().labs;
  for (int i = 0; i != short_lives; ++i) {
    life l{.place = nullptr};
    run(l);
    if (i % 20 == 19) ::malloc_trim(0);
  }
  const auto more = heap_now().labs - buffers;
  probe::say("%d short lives made %lu buffers", short_lives, (unsigned long)more);
  probe::expect(more <= 20, "req 12: a thread that ends leaves its buffer to nobody");
  return 0;
}
