// Requirement 12: what the heap keeps goes by the threads there are, never by processors: not by the machine's, nor by those of
// the affinity mask. The same work takes the same memory, in as many LABs, on one processor and on sixty-four.
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "../probe/again.hpp"
#include "../probe/random.hpp"
#include "../probe/resident.hpp"
#include "../probe/the_heap.hpp"

using namespace polder;

namespace {

constexpr int threads = 16, blocks = 4'000;
pthread_barrier_t full, seen;

void* work(void* number) {
  probe::random r{reinterpret_cast<std::uintptr_t>(number)};
  for (int i = 0; i != blocks; ++i) {
    const std::size_t n = 16 + r.below(1'000);
    std::memset(std::malloc(n), 1, n);
  }
  ::pthread_barrier_wait(&full);
  ::pthread_barrier_wait(&seen);
  return nullptr;
}

int tell() {
  ::pthread_barrier_init(&full, nullptr, threads + 1);
  ::pthread_barrier_init(&seen, nullptr, threads + 1);
  for (std::uintptr_t i = 0; i != threads; ++i) {
    pthread_t thread;
    probe::expect(::pthread_create(&thread, nullptr, work, reinterpret_cast<void*>(i)) == 0, "no thread");
  }
  ::pthread_barrier_wait(&full);
  const polder_statistics s = the_heap::statistics();
  char text[100];
  const int n = std::snprintf(text, sizeof text, "%lu %zu %ld", static_cast<unsigned long>(s.labs),
                              s.committed >> 10, probe::resident_kib());
  return ::write(1, text, std::size_t(n)) == n ? 0 : 1;
}

// A /sys in which there are sixty-four processors on two nodes.
class imagined {
 public:
  imagined() {
    probe::expect(::mkdtemp(root_) != nullptr, "no folder");
    file("devices/system/cpu", "possible", "0-63\n");
    file("devices/system/cpu", "online", "0-63\n");
    file("devices/system/node", "online", "0-1\n");
    file("devices/system/node/node0", "cpulist", "0-31\n");
    file("devices/system/node/node1", "cpulist", "32-63\n");
  }
  ~imagined() {
    char command[100];
    std::snprintf(command, sizeof command, "rm -r %s", root_);
    [[maybe_unused]] const int status = std::system(command);
  }
  const char* root() const { return root_; }

 private:
  void file(const char* folder, const char* name, const char* text) {
    char path[200];
    std::snprintf(path, sizeof path, "mkdir -p %s/%s", root_, folder);
    probe::expect(std::system(path) == 0, "no folder");
    std::snprintf(path, sizeof path, "%s/%s/%s", root_, folder, name);
    std::FILE* const f = std::fopen(path, "w");
    probe::expect(f != nullptr, "no file");
    std::fputs(text, f);
    std::fclose(f);
  }
  char root_[40] = "/tmp/polder-processors-XXXXXX";
};

struct figures {
  long labs = 0, committed = 0, resident = 0;
};

template <class Prepare>
figures of(const char* what, const char* const* settings, Prepare prepare) {
  const char* args[] = {"tell", nullptr};
  const auto outcome = probe::run_again(args, settings, 50, prepare);
  figures f;
  probe::expect(
      outcome.passed() && std::sscanf(outcome.out, "%ld %ld %ld", &f.labs, &f.committed, &f.resident) == 3,
      "%s: %s", what, outcome.err);
  probe::say("%-40s %ld LABs, %ld KiB committed, %ld resident", what, f.labs, f.committed, f.resident);
  return f;
}

void on_one_processor() {
  cpu_set_t mine, one;
  CPU_ZERO(&mine);
  ::sched_getaffinity(0, sizeof mine, &mine);
  int cpu = 0;
  while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &mine)) ++cpu;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  ::sched_setaffinity(0, sizeof one, &one);
}

}  // namespace

int main(int argc, char** argv) {
  ::alarm(110);
  if (argc == 2 && std::strcmp(argv[1], "tell") == 0) return tell();
  const imagined machine;
  char topology[100];
  std::snprintf(topology, sizeof topology, "POLDER_TOPOLOGY=%s", machine.root());
  // In small pages: whose grains fill up a huge one is chance.
  const char* plain[] = {"POLDER_OPTIONS=thp=off", nullptr};
  const char* many[] = {topology, "POLDER_OPTIONS=thp=off", nullptr};
  const char* by_default[] = {topology, nullptr};
  const char* nodes[] = {topology, "POLDER_OPTIONS=thp=off,numa=on", nullptr};
  const auto nothing = [] {};
  const figures here = of("this machine", plain, nothing);
  const auto as_much = [&](const char* what, const figures& f) {
    probe::expect(f.labs == here.labs, "req 12: %s: %ld LABs instead of %ld", what, f.labs, here.labs);
    probe::expect(std::labs(f.committed - here.committed) <= 512, "req 12: %s: %ld KiB committed, not %ld", what,
                  f.committed, here.committed);
  };
  const auto same = [&](const char* what, const figures& f) {
    as_much(what, f);
    probe::expect(std::labs(f.resident - here.resident) <= 512, "req 12: %s: %ld KiB resident, not %ld", what,
                  f.resident, here.resident);
  };
  same("one processor", of("one processor by affinity", plain, on_one_processor));
  same("sixty-four", of("sixty-four processors on two nodes", many, nothing));
  as_much("in huge pages", of("the same in huge pages", by_default, nothing));
  same("sixty-four with nodes", of("the same with numa=on", nodes, nothing));
  same("sixty-four, one usable", of("the same, one usable", nodes, on_one_processor));
  return 0;
}
