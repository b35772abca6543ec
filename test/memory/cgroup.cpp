// Requirement 16: in a container of 256 MB a program with 150 MB live churns on and is not killed: the heap has found the limit
// and gives back what is spare before the kernel comes for it. Where no memory cgroup can be made it is skipped.
//   cgroup          makes the group and runs itself in it
//   cgroup inside   is what runs there
#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "../probe/again.hpp"
#include "../probe/opaque.hpp"
#include "../probe/resident.hpp"
#include "../probe/the_heap.hpp"
#include "churn.hpp"

using namespace polder;
using namespace polder::memory_test;
using namespace polder::the_heap;

namespace {

constexpr std::size_t limit = std::size_t{256} << 20, live = std::size_t{150} << 20;

bool write_text(const char* folder, const char* name, const char* text) {
  char path[700];
  std::snprintf(path, sizeof path, "%s/%s", folder, name);
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool done = ::write(fd, text, std::strlen(text)) == ssize_t(std::strlen(text));
  ::close(fd);
  return done;
}

// A group below our own.
class group {
 public:
  group() {
    char all[4096];
    probe::read_text("/proc/self/cgroup", all, sizeof all);
    if (const char* path = std::strstr(all, ":memory:"))
      made_ = make("/sys/fs/cgroup/memory", path + 8, "memory.limit_in_bytes");
    if (const char* path = made_ ? nullptr : std::strstr(all, "0::"))
      made_ = make("/sys/fs/cgroup", path + 3, "memory.max");
  }
  ~group() {
    for (int i = 0; made_ && ::rmdir(folder_) != 0 && i != 200; ++i) ::usleep(10'000);
  }
  explicit operator bool() const { return made_; }
  void enter() const {
    if (!write_text(folder_, "cgroup.procs", "0")) ::_exit(126);
  }
  long figure(const char* name) const {
    char path[700], text[64];
    std::snprintf(path, sizeof path, "%s/%s", folder_, name);
    return probe::read_text(path, text, sizeof text) != 0 ? std::atol(text) : -1;
  }

 private:
  bool make(const char* mount, const char* path, const char* limit_file) {
    const int length = int(std::strcspn(path, "\n"));
    std::snprintf(folder_, sizeof folder_, "%s%.*s/polder-test-%d", mount, length == 1 ? 0 : length, path,
                  ::getpid());
    if (::mkdir(folder_, 0755) != 0) return false;
    char text[32];
    std::snprintf(text, sizeof text, "%zu", limit);
    if (write_text(folder_, limit_file, text)) return true;
    ::rmdir(folder_);
    return false;
  }

  char folder_[600];
  bool made_ = false;
};

void* churn(void* p) {
  static_cast<churner*>(p)->run();
  return nullptr;
}

// Beside four threads that churn, blocks that come and go all at once, of a size that no other leaves room for.
int inside() {
  constexpr int threads = 4;
  probe::expect(modes().cgroup_limit == limit, "req 16: the container's limit is told as %zu",
                modes().cgroup_limit);
  probe::expect(statistics().target == limit - limit / 8, "req 16: the target is %zu", statistics().target);
  auto* const crew = static_cast<churner*>(::mmap(nullptr, threads * sizeof(churner), PROT_READ | PROT_WRITE,
                                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  std::size_t most = 0;
  for (int turn = 0; turn != 3; ++turn) {
    pthread_t thread[threads];
    for (int i = 0; i != threads; ++i) {
      crew[i].seed = std::uint32_t(turn * threads + i + 1);
      crew[i].bound = live / threads;
      crew[i].rounds = 6'000;
      probe::expect(::pthread_create(&thread[i], nullptr, churn, &crew[i]) == 0, "no thread");
    }
    for (int i = 0; i != 30; ++i) {
      const std::size_t n = std::size_t{5} << (20 + i % 3);
      void* const p = probe::opaque(std::malloc(n));
      probe::expect(p != nullptr, "no memory");
      std::memset(p, 1, n);
      const std::size_t now = statistics().committed;
      most = now > most ? now : most;
      std::free(p);
    }
    for (const pthread_t t : thread) ::pthread_join(t, nullptr);
  }
  std::size_t held = 0;
  for (int i = 0; i != threads; ++i) held += crew[i].held;
  probe::say("%zu MiB live, at most %zu MiB committed", mib(held), mib(most));
  probe::expect(held > live / 10 * 9, "only %zu MiB were live", mib(held));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  ::alarm(110);
  if (argc == 2 && std::strcmp(argv[1], "inside") == 0) return inside();
  const group g;
  if (!g) probe::skip("no memory cgroup can be made here");
  const char* args[] = {"inside", nullptr};
  const char* settings[] = {nullptr};
  const bool passed = probe::passes("with 150 MiB live under 256 MiB", args, settings, 100, [&] { g.enter(); });
  const long peak = g.figure("memory.max_usage_in_bytes");
  probe::say("at most %ld MiB in the group", (peak >= 0 ? peak : g.figure("memory.peak")) >> 20);
  return passed ? 0 : 1;
}
