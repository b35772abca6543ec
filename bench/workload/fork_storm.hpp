#pragma once
// fork_storm — a churning program with threads forks again and again, and its children allocate and free: each finds the
// heap as its parent's other threads left it in the middle of something.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/held_block.hpp"
#include "core/run.hpp"
#include "core/usual_sizes.hpp"

namespace polder::bench {

struct fork_storm {
  static constexpr parameter parameters[] = {
      {"forks", 200, 1, 1'000'000, "children", "of all threads together"},
      {"abreast", 2, 1, 64, "children", "of one thread live at a time"},
      {"slots", 2000, 1, 1'000'000, "blocks", "held by each thread"},
      {"between", 4000, 1, 1'000'000'000, "blocks", "are replaced by a thread between two of its forks"},
      {"child", 2000, 0, 100'000'000, "blocks", "allocated by a child, and freed beside the half of the inherited"},
  };
  static constexpr preset presets[] = {
      {"bare", "children that do nothing: the fork itself", "child=0 forks=400"},
      {"quick", "shorter", "forks=60"},
      {"smoke", "for tests", "forks=10 slots=100 between=300 child=200"},
  };
  static constexpr workload_info info{
      .name = "fork_storm",
      .title = "Fork storm",
      .paper = "the field since (prefork servers, shells); requirement: fork",
      .what = "Threads replace blocks and fork; each child checks what it inherited, allocates, frees, exits.",
      .shows =
          "What a fork costs under the allocator, in its handlers and in pages copied; and whether children live.",
      .parameters = parameters,
      .presets = presets,
      .most_threads = 64,
      .group = "field",
  };

  using object = held_block;

  static void replace(worker& w, object& o) {
    if (o.block != nullptr) w.release(o.block, o.size, o.key);
    o.size = usual_size(w.numbers);
    o.key = w.next_key();
    o.block = w.allocate(o.size, o.key);
  }

  // More than a child takes while all others that live share one slow processor with it: 10 microseconds a block.
  static unsigned patience_with_child(const run& r) {
    const std::size_t living = r.with.size("abreast") * r.threads;
    return static_cast<unsigned>(30 + living * (r.with.size("child") + r.with.size("slots")) / 100'000);
  }

  // In the child. Everything it counts is its own copy.
  [[noreturn]] static void live(worker& w, object* inherited, std::size_t slots, std::int64_t blocks) {
    w.of->become_child(patience_with_child(*w.of));
    for (std::size_t i = 0; i < slots; ++i) {
      object& o = inherited[i];
      if (o.block != nullptr) w.check_stamp(o.block, o.size, o.key);
    }
    if (blocks != 0) {
      for (std::size_t i = 0; i < slots; i += 2) {
        object& o = inherited[i];
        if (o.block == nullptr) continue;
        w.release(o.block, o.size, o.key);
        o.block = nullptr;
      }
    }
    for (std::int64_t i = 0; i < blocks; ++i) replace(w, inherited[w.numbers.below(slots)]);
    for (std::size_t i = 0; i < slots; ++i) {
      object& o = inherited[i];
      if (o.block != nullptr) w.check_stamp(o.block, o.size, o.key);
    }
    _exit(0);
  }

  static void await(run& r, pid_t child) {
    int status = 0;
    if (waitpid(child, &status, 0) != child) r.fail("waitpid: errno %d", errno);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) r.fail("a child after fork did not end in time");
    if (WIFSIGNALED(status)) r.fail("a child after fork was ended by signal %d", WTERMSIG(status));
    if (WEXITSTATUS(status) != 0) r.fail("in a child after fork: %s", r.words_of_children());
  }

  static void execute(run& r) {
    const std::size_t slots = r.with.size("slots");
    const std::size_t abreast = r.with.size("abreast");
    const auto between = r.with["between"];
    const auto child_blocks = r.with["child"];
    const std::size_t forks = std::max<std::size_t>(1, r.with.size("forks") / r.threads);
    mapped_array<object> objects(slots * r.threads);
    mapped_array<pid_t> children(abreast * r.threads);
    mapped_array<std::int64_t> fork_ns(r.threads);

    r.measure([&](worker& w) {
      object* mine = objects.begin() + slots * w.id;
      pid_t* living = children.begin() + abreast * w.id;
      for (std::size_t n = 0; n < forks; ++n) {
        for (std::int64_t i = 0; i < between; ++i) replace(w, mine[w.numbers.below(slots)]);
        w.operations += 2 * static_cast<std::uint64_t>(between);
        pid_t& child = living[n % abreast];
        if (n >= abreast) await(r, child);
        const std::int64_t begin = now_ns();
        child = fork();
        if (child == 0) live(w, mine, slots, child_blocks);
        fork_ns[w.id] += now_ns() - begin;
        if (child < 0) r.fail("cannot fork: errno %d", errno);
      }
      for (std::size_t n = 0; n < std::min(forks, abreast); ++n) await(r, living[n]);
      for (std::size_t i = 0; i < slots; ++i) {
        if (mine[i].block != nullptr) w.release(mine[i].block, mine[i].size, mine[i].key);
      }
    });
    std::int64_t total = 0;
    for (const auto ns : fork_ns) total += ns;
    r.tell("forks", static_cast<double>(forks * r.threads));
    r.tell("microseconds_per_fork", static_cast<double>(total) / 1000 / static_cast<double>(forks * r.threads));
  }
};

}  // namespace polder::bench
