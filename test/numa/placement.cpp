// placement — where the blocks of threads lie on a machine with several nodes. Runs in the guest of two_nodes.py, on the
// heap that is linked in.
//
//   placement PHASE…
//
//   machine os/topology says what the kernel says of where a thread runs
//   fresh   the pages of a thread's blocks lie on its node, although a thread of another node touches them first
//   reused  what a thread of another node freed, or left behind, is not what a thread of this node gets
//   home    blocks that another node's thread freed go back to their owner, and not to who freed them
//   maps    the kernel's own account: what is bound to a node lies there
//
// One line for each phase; status 1 if any of them failed, 2 if there is nothing to see here: a single node.
#include <sched.h>
#include <stdlib.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <semaphore>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <polder/base/align.hpp>
#include <polder/os/numa.hpp>
#include <polder/os/topology.hpp>

namespace {

polder::os::topology machine;

// The first processor of a node.
unsigned cpu_of(unsigned node) {
  for (unsigned cpu = 0; cpu != machine.cpu_limit(); ++cpu)
    if (machine.node_of(cpu) == node) return cpu;
  return 0;
}

// A thread that has never run anywhere else: it inherits where its maker may run.
template <class F>
std::thread on_cpu(unsigned cpu, F f) {
  cpu_set_t only, before;
  CPU_ZERO(&only);
  CPU_SET(cpu, &only);
  if (sched_getaffinity(0, sizeof before, &before) != 0 || sched_setaffinity(0, sizeof only, &only) != 0)
    std::perror("sched_setaffinity"), std::exit(2);
  std::thread made(f);
  sched_setaffinity(0, sizeof before, &before);
  return made;
}

struct block {
  char* p;
  std::size_t bytes;
};
using blocks = std::vector<block>;

// Some megabytes, of every kind of block but huge ones.
blocks assortment() {
  constexpr struct {
    std::size_t bytes;
    unsigned count;
  } kinds[] = {{16, 3000}, {100, 3000}, {1000, 1500}, {5000, 200}, {30'000, 40}, {100'000, 15}, {1'000'000, 3}};
  blocks made;
  for (const auto& k : kinds)
    for (unsigned i = 0; i != k.count; ++i) made.push_back({static_cast<char*>(malloc(k.bytes)), k.bytes});
  return made;
}

blocks many(std::size_t bytes, unsigned count) {
  blocks made;
  for (unsigned i = 0; i != count; ++i) made.push_back({static_cast<char*>(malloc(bytes)), bytes});
  return made;
}

void touch(const blocks& all) {
  for (const block& b : all) std::memset(b.p, 1, b.bytes);
}
void free_all(const blocks& all) {
  for (const block& b : all) free(b.p);
}

struct tally {
  unsigned here = 0, elsewhere = 0;

  void count(const blocks& all, unsigned node) {
    std::set<std::uintptr_t> pages;
    for (const block& b : all)
      for (std::uintptr_t a = polder::align_down(polder::address(b.p), 4096); a < polder::address(b.p) + b.bytes;
           a += 4096)
        pages.insert(a);
    for (const std::uintptr_t a : pages)
      ++(polder::os::node_of_page(polder::at_address(a)) == int(node) ? here : elsewhere);
  }
  bool say(const char* phase, const char* more = "") const {
    const bool good = here != 0 && elsewhere == 0;
    std::printf("%s %s: %u pages on their node, %u elsewhere%s\n", good ? "ok" : "FAILED", phase, here, elsewhere,
                more);
    return good;
  }
};

bool told() {
  unsigned right = 0;
  for (unsigned cpu = 0; cpu != machine.cpu_limit(); ++cpu)
    on_cpu(cpu, [&] {
      unsigned here, node;
      right +=
          getcpu(&here, &node) == 0 && here == cpu && machine.current_cpu() == cpu && machine.node_of(cpu) == node;
    }).join();
  const bool good = right == machine.cpus() && machine.sockets() == 2 && machine.nodes() == 2;
  std::printf("%s machine: %u processors on their node\n", good ? "ok" : "FAILED", right);
  return good;
}

bool fresh() {
  tally pages;
  for (unsigned cpu = 0; cpu != machine.cpu_limit(); ++cpu) {
    const unsigned node = machine.node_of(cpu);
    blocks made;
    on_cpu(cpu, [&] { made = assortment(); }).join();
    on_cpu(cpu_of(node == 0 ? 1 : 0), [&] { touch(made); }).join();
    pages.count(made, node);
    on_cpu(cpu, [&] { free_all(made); }).join();
  }
  return pages.say("fresh");
}

// Each thread leaves a block in twenty when it ends, so that there are spans in part used, with nobody to own them.
bool reused() {
  tally pages;
  blocks left;
  for (int round = 0; round != 3; ++round)
    for (unsigned node = 0; node != 2; ++node)
      on_cpu(cpu_of(node), [&] {
        blocks made = assortment();
        touch(made);
        pages.count(made, node);
        for (std::size_t i = 0; i < made.size(); i += 20) left.push_back(std::exchange(made[i], {nullptr, 0}));
        free_all(made);
      }).join();
  free_all(left);
  return pages.say("reused");
}

// The owner keeps every other block, so that no span of it is free to go to anybody.
bool home() {
  constexpr std::size_t bytes = 256;
  constexpr unsigned count = 20'000;
  tally pages;
  unsigned returned = 0, strayed = 0;
  blocks kept, given;
  std::set<char*> were;
  std::binary_semaphore all_given{0}, all_freed{0};
  std::thread owner = on_cpu(cpu_of(0), [&] {
    const blocks both = many(bytes, 2 * count);
    touch(both);
    for (std::size_t i = 0; i != both.size(); ++i) (i % 2 == 0 ? kept : given).push_back(both[i]);
    for (const block& b : given) were.insert(b.p);
    all_given.release();
    all_freed.acquire();
    const blocks again = many(bytes, count);
    touch(again);
    pages.count(again, 0);
    for (const block& b : again) returned += were.contains(b.p);
    free_all(again);
    free_all(kept);
  });
  all_given.acquire();
  on_cpu(cpu_of(1), [&] {
    free_all(given);
    const blocks others = many(bytes, count);
    touch(others);
    pages.count(others, 1);
    for (const block& b : others) strayed += were.contains(b.p);
    free_all(others);
  }).join();
  all_freed.release();
  owner.join();
  char more[120];
  std::snprintf(more, sizeof more, "; of %u blocks freed remotely %u came home, %u went to who freed them", count,
                returned, strayed);
  const bool lie_well = pages.say("home", more);
  const bool came = returned > count / 2 && strayed == 0;
  if (!came) std::puts("FAILED home: they must come home");
  return lie_well && came;
}

// Lines like:  7f12c0000000 prefer:1 anon=12 dirty=12 N1=12 kernelpagesize_kB=4
bool maps() {
  tally pages;
  std::set<unsigned> nodes;
  std::ifstream account("/proc/self/numa_maps");
  for (std::string line; std::getline(account, line);) {
    std::istringstream in(line);
    std::string address, policy;
    in >> address >> policy;
    unsigned bound, node, n;
    if (std::sscanf(policy.c_str(), "prefer:%u", &bound) != 1) continue;
    for (std::string word; in >> word;) {
      if (std::sscanf(word.c_str(), "N%u=%u", &node, &n) != 2) continue;
      (node == bound ? pages.here : pages.elsewhere) += n;
      nodes.insert(bound);
    }
  }
  const bool everywhere = nodes.size() == machine.nodes();
  if (!everywhere) std::printf("FAILED maps: memory is bound to %zu of %u nodes\n", nodes.size(), machine.nodes());
  return pages.say("maps") && everywhere;
}

}  // namespace

int main(int argc, char** argv) {
  machine.read();
  std::printf("%u processors, %u sockets, %u nodes\n", machine.cpus(), machine.sockets(), machine.nodes());
  if (machine.nodes() < 2) return 2;
  bool good = argc > 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view phase = argv[i];
    if (phase == "machine") good &= told();
    else if (phase == "fresh") good &= fresh();
    else if (phase == "reused") good &= reused();
    else if (phase == "home") good &= home();
    else if (phase == "maps") good &= maps();
    else return std::printf("no phase %s\n", argv[i]), 2;
  }
  return good ? 0 : 1;
}
