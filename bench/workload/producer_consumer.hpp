#pragma once
// producer_consumer — blocks freed by other threads than those that allocated them: the pattern under which private
// heaps grow without bound (Berger 2000). Shape `all` is ACDC's of scalloc sec. 7.3: everybody shares with everybody,
// the last reader frees, so that n threads free remotely with probability 1 - 1/n.
#include "core/channel.hpp"
#include "core/run.hpp"

namespace polder::bench {

struct producer_consumer {
  static constexpr parameter parameters[] = {
      {"shape", 0, 0, 2, "", "each thread to the next one; producers and consumers in pairs; each to all",
       "ring|pairs|all"},
      {"min", 16, 16, 1 << 20, "bytes", "smallest block"},
      {"max", 512, 16, 1 << 20, "bytes", "greatest block"},
      {"objects", 10'000'000, 1, 1'000'000'000, "blocks",
       "allocated by each producer; with shape all, by all together"},
      {"remote", 100, 0, 100, "%", "of the blocks are passed on; the others are freed at home (not for shape all)"},
      {"capacity", 1024, 8, 1 << 20, "blocks", "of each queue, a power of two; with shape all, four rounds"},
  };
  static constexpr preset presets[] = {
      {"scalloc-fig9", "scalloc, figure 9: 16 to 512 bytes, all share with all",
       "shape=all min=16 max=512 objects=10000000"},
      {"pairs", "half of the threads allocate, half free", "shape=pairs"},
      {"half-remote", "half of the frees are remote", "shape=ring remote=50"},
      {"quick", "scalloc, figure 9, one fifth", "shape=all min=16 max=512 objects=2000000"},
      {"smoke", "for tests", "objects=3000 capacity=64"},
      {"smoke-pairs", "for tests", "shape=pairs objects=3000 capacity=64"},
      {"smoke-all", "for tests", "shape=all objects=3000 capacity=64"},
  };
  static constexpr workload_info info{
      .name = "producer_consumer",
      .title = "Producer-consumer",
      .paper = "scalloc fig. 9 (ACDC); Berger 2000",
      .what = "Threads pass blocks through bounded queues; the receiver checks and frees them.",
      .shows = "The cost of remote frees, and whether remotely freed memory comes back to who allocates.",
      .parameters = parameters,
      .presets = presets,
      .most_threads = 64,
  };

  struct message {
    void* block = nullptr;  // null: the sender has finished
    std::uint64_t key = 0;
    std::uint32_t size = 0;
    std::uint32_t from = 0;
  };

  static void execute(run& r) {
    const std::size_t capacity = r.with.size("capacity");
    if ((capacity & (capacity - 1)) != 0) r.reject("'capacity' is not a power of two");
    if (r.with["min"] > r.with["max"]) r.reject("'min' is above 'max'");
    if (r.with.word("shape") == "all") all(r, capacity);
    else lines(r, capacity);
  }

  // A message of `w`, and one with its block.
  static message planned(worker& w, std::size_t min, std::size_t max) {
    message m;
    m.size = static_cast<std::uint32_t>(w.numbers.between(min, max));
    m.key = w.next_key();
    m.from = w.id;
    return m;
  }
  static message fresh(worker& w, std::size_t min, std::size_t max) {
    message m = planned(w, min, max);
    m.block = w.allocate(m.size, m.key);
    return m;
  }

  static void finish(worker& w, const message& m) {
    w.release(m.block, m.size, m.key);
    if (m.from != w.id) ++w.remote_frees;
  }

  static void lines(run& r, std::size_t capacity) {
    const std::size_t min = r.with.size("min");
    const std::size_t max = r.with.size("max");
    const std::size_t objects = r.with.size("objects");
    const auto remote = static_cast<std::uint64_t>(r.with["remote"]);
    const bool pairs = r.with.word("shape") == "pairs";
    mapped_array<channel<message>> inbox(r.threads, capacity);

    r.measure([&](worker& w) {
      const bool paired = pairs && (w.id ^ 1) < r.threads;  // an odd thread out sends to itself
      const unsigned to = paired ? w.id ^ 1 : pairs ? w.id : (w.id + 1) % r.threads;
      const bool consumes = !paired || w.id % 2 == 1;
      bool receiving = consumes;
      patience idle;
      const auto receive = [&] {
        message m;
        if (!receiving || !inbox[w.id].try_take(m)) return false;
        if (m.block == nullptr) receiving = false;
        else finish(w, m);
        return true;
      };
      const auto send = [&](const message& m) {
        for (idle.reset(); !inbox[to].try_put(m);) {
          if (!receive()) idle.wait();
        }
      };

      if (!paired || w.id % 2 == 0) {
        for (std::size_t i = 0; i < objects; ++i) {
          const message m = fresh(w, min, max);
          if (remote == 100 || w.numbers.percent(remote)) send(m);
          else finish(w, m);
          receive();
        }
        w.operations += 2 * objects;
        send(message{});
      }
      idle.reset();
      while (receiving) {
        if (receive()) idle.reset();
        else idle.wait();
      }
    });
  }

  // In shape all, the first word of a block is {readers left, half of the key}.
  struct shared_head {
    std::atomic<std::uint32_t> readers;
    std::uint32_t half_key;
  };

  // Whether nobody else has it to read still.
  [[nodiscard]] static bool read_last(worker& w, const message& m) {
    auto* head = static_cast<shared_head*>(m.block);
    std::uint64_t tail = 0;
    std::memcpy(&tail, static_cast<unsigned char*>(m.block) + m.size - 8, 8);
    const std::uint32_t readers = head->readers.load(std::memory_order_relaxed);
    if (head->half_key != static_cast<std::uint32_t>(m.key) || tail != ~m.key || readers - 1 >= w.of->threads) {
      w.of->fail("shared block %p of %u bytes was overwritten while in use", m.block, m.size);
    }
    return head->readers.fetch_sub(1, std::memory_order_acq_rel) == 1;  // sync: last-reader
  }

  // In rounds, as ACDC does: everybody makes a few objects and sends them to everybody, itself included, and reads what
  // it got only when the round of all is there, beginning with a sender chosen at random: anybody may be the last reader.
  // A queue holds four rounds, though nobody can be further ahead than two. The calls of a round are timed together, as the
  // figure wants the time in the allocator.
  static void all(run& r, std::size_t capacity) {
    const std::size_t min = r.with.size("min");
    const std::size_t max = r.with.size("max");
    const std::size_t batch = capacity / 4;
    const std::size_t rounds = std::max<std::size_t>(1, r.with.size("objects") / r.threads / batch);
    post_office<message> post(r.threads, capacity);
    mapped_array<message> got(r.threads * batch * r.threads);

    r.measure([&](worker& w) {
      patience idle;
      message* mine = got.begin() + w.id * batch * r.threads;
      const auto send = [&](const message& m) {
        for (unsigned to = 0; to < r.threads; ++to) {
          for (idle.reset(); !post.between(w.id, to).try_put(m);) idle.wait();
        }
      };
      for (std::size_t round = 0; round < rounds; ++round) {
        for (std::size_t i = 0; i < batch; ++i) mine[i] = planned(w, min, max);
        const std::int64_t begin = now_ns();
        for (std::size_t i = 0; i < batch; ++i) mine[i].block = opaque(heap.malloc(mine[i].size));
        w.allocator_ns += now_ns() - begin;
        for (std::size_t i = 0; i < batch; ++i) {
          const message& m = mine[i];
          w.checked(m.block, m.size);
          w.took(m.size);
          stamp(m.block, m.size, m.key);
          new (m.block) shared_head{{r.threads}, static_cast<std::uint32_t>(m.key)};
          send(m);
        }
        const auto first = w.numbers.below(r.threads);
        for (unsigned from = 0; from < r.threads; ++from) {
          for (std::size_t i = 0; i < batch; ++i) {
            message& m = mine[(from + r.threads - first) % r.threads * batch + i];
            for (idle.reset(); !post.between(from, w.id).try_take(m);) idle.wait();
          }
        }
        std::size_t last = 0;
        for (std::size_t i = 0; i < batch * r.threads; ++i) {
          if (read_last(w, mine[i])) mine[last++] = mine[i];
        }
        const std::int64_t freeing = now_ns();
        for (std::size_t i = 0; i < last; ++i) heap.free(mine[i].block);
        w.allocator_ns += now_ns() - freeing;
        for (std::size_t i = 0; i < last; ++i) {
          w.gave(mine[i].size);
          w.remote_frees += mine[i].from != w.id;
        }
      }
      w.operations += 2 * batch * rounds;
    });
  }
};

}  // namespace polder::bench
