// Requirement 1: forks while other threads flush all streams and read lines. (glibc's bug 19431, and its test of the same)
//
// Who forks waits in the C library for the lock of the list of streams; who flushes holds that and waits for a stream's; who
// reads a line holds the stream's and allocates. A heap that held a lock across the fork would close the circle.
//   streams [forks]
#include <cstdio>
#include <cstdlib>

#include "child_work.hpp"

using namespace polder;

static std::atomic<bool> stop{false};
static std::atomic<unsigned> flushed{0}, lines{0};

static void* flush_all(void*) {
  while (!stop.load(std::memory_order_relaxed)) {
    std::fflush(nullptr);
    flushed.fetch_add(1, std::memory_order_relaxed);
    ::usleep(20);  // these locks are not fair: nobody else would have it
  }
  return nullptr;
}

// Lines so long that they are grown into often, some kept for a while.
static void* read_lines(void*) {
  constexpr std::size_t length = 200'000;
  char* const text = static_cast<char*>(std::malloc(length));
  for (std::size_t i = 0; i < length; i++) text[i] = 'a';
  text[length - 1] = '\n';
  std::FILE* const file = ::fmemopen(text, length, "r");
  probe::expect(file != nullptr, "fmemopen");
  char* kept[64] = {};
  for (unsigned i = 0; !stop.load(std::memory_order_relaxed); i = (i + 1) % 64) {
    std::rewind(file);
    char* line = nullptr;
    std::size_t room = 0;
    probe::expect(::getline(&line, &room, file) == ssize_t(length), "getline");
    std::free(kept[i]);
    kept[i] = line;
    lines.fetch_add(1, std::memory_order_relaxed);
    ::usleep(20);
  }
  for (char* line : kept) std::free(line);
  std::fclose(file);
  std::free(text);
  return nullptr;
}

int main(int argc, char** argv) {
  const unsigned forks = argc > 1 ? unsigned(std::atoi(argv[1])) : 300;
  ::alarm(90);
  pthread_t threads[4];
  for (unsigned i = 0; i < 4; i++)
    probe::expect(::pthread_create(&threads[i], nullptr, i % 2 == 0 ? flush_all : read_lines, nullptr) == 0,
                  "pthread_create");
  for (unsigned i = 0; i < forks; i++) {
    const pid_t child = ::fork();
    probe::expect(child >= 0, "fork %u: %s", i, std::strerror(errno));
    if (child == 0) {
      ::alarm(30);
      for (std::size_t k = i % 4; k < probe::small_sizes.size(); k += 4)
        fork_test::unmade(fork_test::made(probe::small_sizes[k], i));
      ::_exit(0);
    }
    fork_test::wait_for(child, "req 1: a child among streams");
  }
  stop.store(true, std::memory_order_relaxed);
  for (auto thread : threads) ::pthread_join(thread, nullptr);
  probe::say("%u forks, %u flushes, %u lines", forks, flushed.load(), lines.load());
  probe::expect(flushed.load() >= forks && lines.load() >= forks, "too few to meet a fork");
}
