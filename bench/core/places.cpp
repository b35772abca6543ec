#include "core/places.hpp"

#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace polder::bench {

namespace {

constexpr unsigned most_nodes = 1024;
constexpr unsigned word_bits = 8 * sizeof(unsigned long);

struct node_mask {
  unsigned long words[most_nodes / word_bits] = {};
  unsigned count = 0;

  void add(unsigned node) {
    if (node >= most_nodes) return;
    words[node / word_bits] |= 1ul << node % word_bits;
    ++count;
  }
};

// "0-1,3" of sysfs; nothing where there is no such file.
node_mask nodes_with_memory() {
  node_mask nodes;
  std::FILE* const file = std::fopen("/sys/devices/system/node/has_memory", "re");
  if (file == nullptr) return nodes;
  unsigned first = 0;
  while (std::fscanf(file, "%u", &first) == 1) {
    unsigned last = first;
    int next = std::fgetc(file);
    if (next == '-' && std::fscanf(file, "%u", &last) == 1) next = std::fgetc(file);
    for (unsigned node = first; node <= last; ++node) nodes.add(node);
    if (next != ',') break;
  }
  std::fclose(file);
  return nodes;
}

}  // namespace

cores::cores() {
  // The kernel wants room for as many processors as it was built for.
  for (unsigned most = 1024; most <= 65536; most *= 4) {
    cpu_set_t* const set = CPU_ALLOC(most);
    const std::size_t size = CPU_ALLOC_SIZE(most);
    if (set == nullptr) return;
    const bool good = sched_getaffinity(0, size, set) == 0;
    for (unsigned cpu = 0; good && cpu != most; ++cpu) {
      if (CPU_ISSET_S(cpu, size, set)) allowed_.push_back(cpu);
    }
    CPU_FREE(set);
    if (good) return;
  }
}

bool cores::pin(unsigned number) const {
  if (allowed_.empty()) return false;
  const unsigned cpu = allowed_[number % allowed_.size()];
  cpu_set_t* const set = CPU_ALLOC(cpu + 1);
  const std::size_t size = CPU_ALLOC_SIZE(cpu + 1);
  if (set == nullptr) return false;
  CPU_ZERO_S(size, set);
  CPU_SET_S(cpu, size, set);
  const bool good = sched_setaffinity(0, size, set) == 0;
  CPU_FREE(set);
  return good;
}

unsigned memory_nodes() { return nodes_with_memory().count; }

bool interleave_over_nodes() {
  const node_mask nodes = nodes_with_memory();
  return syscall(SYS_set_mempolicy, MPOL_INTERLEAVE, nodes.words, most_nodes) == 0;
}

}  // namespace polder::bench
