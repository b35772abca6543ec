#pragma once
// passive_false — Berger and others, "Hoard", 2000; Michael sec. 4.1: one thread allocates small blocks side by side and
// hands them out; the others free them at once and go on as in active_false. An allocator that gives a thread what it has
// just freed, whoever allocated it, gives the pieces of one line to many.
#include "workload/active_false.hpp"

namespace polder::bench {

struct passive_false {
  static constexpr parameter parameters[] = {
      active_false::parameters[0],
      active_false::parameters[1],
      active_false::parameters[2],
      active_false::parameters[3],
      {"handed", 4, 1, 1'000'000, "blocks", "handed to each thread; neighbours go to different threads"},
  };
  static constexpr preset presets[] = {
      {"michael-fig8d", "Michael, figure 8d: as 8c, but the blocks begin in one thread",
       "size=8 pairs=10000 held=1 writes=1000 handed=1"},
      {"michael-fig8d-scaled", "Michael, figure 8d, longer", "size=8 pairs=100000 held=1 writes=1000 handed=1"},
      {"hoard", "the parameters that Hoard's authors suggest: 100 blocks of 8 bytes, a million writes to each byte",
       "size=8 pairs=100 held=1 writes=1000000 handed=1"},
      {"quick", "the defaults, shorter", "pairs=30000"},
      {"smoke", "for tests", "pairs=300 writes=20 handed=40"},
  };
  static constexpr workload_info info{
      .name = "passive_false",
      .title = "Passive false sharing",
      .paper = "Berger 2000; Michael fig. 8d; scalloc sec. 7.4",
      .what =
          "Threads free small blocks that one thread has allocated side by side, then write to blocks of "
          "their own.",
      .shows =
          "Whether a thread that frees another's block is given it: then its neighbours' lines are shared, as "
          "`shared_lines` tells.",
      .parameters = parameters,
      .presets = presets,
  };

  struct handed_block {
    void* block;
    std::uint64_t key;
  };

  static void execute(run& r) {
    const std::size_t size = r.with.size("size");
    mapped_array<handed_block> handed(r.with.size("handed") * r.threads);
    for (auto& h : handed) {
      h.key = r.setup().next_key();
      h.block = r.setup().allocate(size, h.key);
    }
    active_false::measure(r, [&](worker& w) {
      for (std::size_t i = w.id; i < handed.size(); i += r.threads) {
        w.release(handed[i].block, size, handed[i].key);
        w.remote_frees += !r.same_thread(w.id, r.setup().id);
        ++w.operations;
      }
    });
  }
};

}  // namespace polder::bench
