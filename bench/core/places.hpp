#pragma once
// places — where threads run and where memory lies, for experiments that fix it.
#include <cstdint>
#include <vector>

namespace polder::bench {

// The processors that the process may run on when this is made, to be given to threads in turn.
class cores {
 public:
  cores();
  // The calling thread, and what threads it starts, stay on the number-th from now on, counted around. False: the
  // kernel refuses.
  bool pin(unsigned number) const;

 private:
  std::vector<unsigned> allowed_;
};

// NUMA nodes that have memory.
unsigned memory_nodes();

// Pages that the process touches from now on lie on all nodes in turn: of the calling thread and those it starts. False:
// the kernel refuses.
bool interleave_over_nodes();

}  // namespace polder::bench
