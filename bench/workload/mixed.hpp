#pragma once
// mixed — what programs are like in general: mostly small blocks, most of which die at once, some that live long, a few
// large ones, some calloc and realloc, and a share of blocks freed by another thread.
#include "core/channel.hpp"
#include "core/run.hpp"
#include "core/usual_sizes.hpp"

namespace polder::bench {

struct mixed {
  static constexpr parameter parameters[] = {
      {"allocations", 3'000'000, 1, 1'000'000'000, "blocks", "by each thread"},
      {"medium", 1000, 1, 10'000'000, "blocks", "of middle life that each thread holds"},
      {"long", 20'000, 1, 100'000'000, "blocks", "of long life that each thread holds"},
      {"remote", 5, 0, 100, "%", "of the blocks are freed by another thread"},
      {"calloc", 8, 0, 100, "%", "of the blocks come from calloc"},
      {"realloc", 3, 0, 100, "%", "of the steps grow a block of middle life by half"},
  };
  static constexpr preset presets[] = {
      {"local", "nothing is freed by another thread", "remote=0"},
      {"remote", "half of all is freed by another thread", "remote=50"},
      {"quick", "shorter", "allocations=1000000"},
      {"smoke", "for tests", "allocations=6000 medium=50 long=200 remote=30"},
  };
  static constexpr workload_info info{
      .name = "mixed",
      .title = "Mixed",
      .paper = "own; sizes and lifetimes after published traces of C and C++ programs",
      .what =
          "Each thread allocates blocks of a realistic mix of sizes and lives; some are freed by other threads.",
      .shows = "The allocator as most programs meet it: speed, and memory used beside long-lived blocks.",
      .parameters = parameters,
      .presets = presets,
      .most_threads = 64,
      .group = "field",
  };

  static constexpr std::size_t short_lived = 16;  // slots, for 70 % of the blocks; medium 22 %, long 8 %

  struct object {
    void* block = nullptr;
    std::uint64_t key = 0;
    std::uint32_t size = 0;
    bool last = false;  // in a message: the sender has finished
  };

  static void execute(run& r) {
    const auto allocations = r.with["allocations"];
    const std::size_t medium = r.with.size("medium");
    const std::size_t long_lived = r.with.size("long");
    const auto remote = static_cast<std::uint64_t>(r.threads > 1 ? r.with["remote"] : 0);
    const auto from_calloc = static_cast<std::uint64_t>(r.with["calloc"]);
    const auto regrown = static_cast<std::uint64_t>(r.with["realloc"]);
    const std::size_t held = short_lived + medium + long_lived;
    mapped_array<object> objects(held * r.threads);
    post_office<object> post(r.threads, 256);

    r.measure([&](worker& w) {
      object* mine = objects.begin() + w.id * held;
      unsigned senders = r.threads - 1;
      patience idle;
      const auto receive = [&] {
        bool any = false;
        for (unsigned from = 0; from < r.threads; ++from) {
          object o;
          while (from != w.id && post.between(from, w.id).try_take(o)) {
            any = true;
            if (o.last) {
              --senders;
            } else {
              w.release(o.block, o.size, o.key);
              ++w.remote_frees;
            }
          }
        }
        return any;
      };
      const auto send = [&](unsigned to, const object& o) {
        for (idle.reset(); !post.between(w.id, to).try_put(o);) {
          if (!receive()) idle.wait();
        }
      };
      const auto dispose = [&](object& o) {
        if (o.block == nullptr) return;
        if (remote != 0 && w.numbers.percent(remote)) {
          send(static_cast<unsigned>((w.id + 1 + w.numbers.below(r.threads - 1)) % r.threads), o);
        } else {
          w.release(o.block, o.size, o.key);
        }
        o.block = nullptr;
      };

      for (std::int64_t i = 0; i < allocations; ++i) {
        const auto life = w.numbers.below(100);
        object& o = life < 70   ? mine[w.numbers.below(short_lived)]
                    : life < 92 ? mine[short_lived + w.numbers.below(medium)]
                                : mine[short_lived + medium + w.numbers.below(long_lived)];
        dispose(o);
        o.size = usual_size(w.numbers);
        o.key = w.next_key();
        if (w.numbers.percent(from_calloc)) {
          o.block = w.checked(opaque(heap.calloc(1, o.size)), o.size);
          if (!all_zero(o.block, o.size))
            r.fail("calloc gave block %p of %u bytes that is not all zero", o.block, o.size);
          stamp(o.block, o.size, o.key);
          w.took(o.size);
        } else {
          o.block = w.allocate(o.size, o.key);
        }
        if (w.numbers.percent(regrown)) grow(w, mine[short_lived + w.numbers.below(medium)]);
        if (remote != 0 && i % 64 == 63) receive();
      }
      w.operations += 2 * static_cast<std::uint64_t>(allocations);
      for (std::size_t i = 0; i < held; ++i) dispose(mine[i]);
      for (unsigned step = 1; step < r.threads; ++step) send((w.id + step) % r.threads, object{.last = true});
      idle.reset();
      while (senders != 0) {
        if (receive()) idle.reset();
        else idle.wait();
      }
    });
  }

  static void grow(worker& w, object& o) {
    if (o.block == nullptr || o.size < 8 || o.size > (1u << 20)) return;
    w.check_stamp(o.block, o.size, o.key);
    ++w.operations;
    const std::uint32_t size = o.size + o.size / 2;
    void* moved = opaque(heap.realloc(o.block, size));
    if (moved == nullptr) w.of->fail("realloc to %u bytes returned a null pointer", size);
    w.checked(moved, size);
    if (!stamped(moved, o.size, o.key))
      w.of->fail("realloc lost contents of the %u bytes of block %p", o.size, o.block);
    w.live += size - o.size;
    o.block = moved;
    o.size = size;
    stamp(o.block, o.size, o.key);
  }
};

}  // namespace polder::bench
