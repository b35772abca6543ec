#pragma once
// growing_set — the trees of the thesis as an allocator sees them: a set that grows from nothing to half of its keys, since
// half of the steps insert and half delete, whoever comes; what was deleted is freed later, in batches, as an epoch
// reclaimer does.
#include "core/meeting.hpp"
#include "core/run.hpp"

namespace polder::bench {

struct growing_set {
  static constexpr parameter parameters[] = {
      {"keys", 2'000'000, 2, 100'000'000, "keys", "the set comes to rest at half of them"},
      {"size", 240, 16, 1 << 20, "bytes", "of a block, one for each key in the set"},
      {"batch", 100, 1, 1'000'000, "blocks", "that a thread deletes before it frees them together"},
      {"milliseconds", 1000, 1, 86'400'000, "ms", "in which the steps are counted"},
      {"steps", 0, 0, 1'000'000'000'000, "steps",
       "of each thread, however long they take, 64 or more; 0: `milliseconds` say"},
  };
  static constexpr preset presets[] = {
      {"kim-fig4.14", "the thesis, figure 4.14: 240 bytes, 20 million keys, 5 s",
       "keys=20000000 milliseconds=5000"},
      {"kim-fig4.14-occ", "the same with the nodes of its other tree, 64 bytes",
       "keys=20000000 size=64 milliseconds=5000"},
      {"kim-fig4.14-scaled", "the thesis, figure 4.14, its early phase with a tenth of the keys",
       "keys=2000000 milliseconds=1000"},
      {"quick", "shorter", "keys=200000 milliseconds=100"},
      {"smoke", "for tests", "keys=2000 batch=7 steps=20000"},
  };
  static constexpr workload_info info{
      .name = "growing_set",
      .title = "Growing set",
      .paper = "Kim 2023, ch. 3 and 4 (trees under epoch reclamation)",
      .what = "Threads insert and delete keys of one set at random; deleted blocks are freed in batches.",
      .shows =
          "The early phase, when hardly anything is freed yet, and what follows; tells each tenth's throughput.",
      .parameters = parameters,
      .presets = presets,
  };

  // A block in the set, and who allocated it, above the addresses' bits.
  static constexpr unsigned address_bits = 48;
  static void* block_of(std::uint64_t slot) {
    return reinterpret_cast<void*>(slot & ((std::uint64_t{1} << address_bits) - 1));
  }
  static std::uint64_t slot_of(void* block, unsigned by) {
    return reinterpret_cast<std::uint64_t>(block) | std::uint64_t{by} << address_bits;
  }

  struct deleted {
    std::uint64_t slot = 0;
    std::uint64_t key = 0;
  };
  static constexpr unsigned tenths = 10;
  static constexpr std::string_view names[tenths] = {
      "throughput_tenth_1", "throughput_tenth_2", "throughput_tenth_3", "throughput_tenth_4",
      "throughput_tenth_5", "throughput_tenth_6", "throughput_tenth_7", "throughput_tenth_8",
      "throughput_tenth_9", "throughput_tenth_10"};
  struct alignas(128) progress {
    std::uint64_t steps[tenths] = {};
  };

  static void execute(run& r) {
    const std::size_t keys = r.with.size("keys");
    const std::size_t size = r.with.size("size");
    const std::size_t batch = r.with.size("batch");
    const std::int64_t lasts = r.with["milliseconds"] * 1'000'000;
    const auto steps = static_cast<std::uint64_t>(r.with["steps"]);
    if (steps != 0 && steps < 64) r.reject("'steps' is 0 or from 64 on: of fewer, none may insert");
    mapped_array<std::atomic<std::uint64_t>> slots(keys);
    mapped_array<deleted> bags(batch * r.threads);
    mapped_array<progress> made(r.threads);
    meeting all(r.threads);

    r.measure([&](worker& w) {
      deleted* bag = bags.begin() + w.id * batch;
      std::size_t full = 0;
      const auto free_bag = [&] {
        for (; full > 0; --full) {
          const deleted& d = bag[full - 1];
          w.release(block_of(d.slot), size, d.key);
          w.remote_frees += d.slot >> address_bits != w.id;
        }
      };
      const auto step = [&] {
        const std::uint64_t key = w.numbers.below(keys);
        std::atomic<std::uint64_t>& slot = slots[key];
        std::uint64_t found = slot.load(std::memory_order_relaxed);
        if (w.numbers.below(2) == 0) {
          if (found != 0) return;
          void* block = w.allocate(size, key);
          // Release: the stamp, to who deletes it. Another thread may have inserted the key meanwhile.
          if (!slot.compare_exchange_strong(found, slot_of(block, w.id), std::memory_order_release,
                                            std::memory_order_relaxed))
            w.release(block, size, key);
        } else {
          if (found == 0) return;
          found = slot.exchange(0, std::memory_order_acquire);
          if (found == 0) return;
          bag[full++] = {found, key};
          if (full == batch) free_bag();
        }
      };

      if (steps != 0) {
        for (; w.operations < steps; ++w.operations) step();
      } else {
        for (std::int64_t now = w.begin_ns; now - w.begin_ns < lasts; now = now_ns()) {
          for (unsigned i = 0; i < 64; ++i) step();
          w.operations += 64;
          made[w.id].steps[(now - w.begin_ns) * tenths / lasts] += 64;
        }
      }
      free_bag();
      w.stop_clock();

      all.wait(w.id == 0 && steps == 0, [&] {
        for (unsigned tenth = 0; tenth < tenths; ++tenth) {
          std::uint64_t sum = 0;
          for (const progress& p : made) sum += p.steps[tenth];
          r.tell(names[tenth], static_cast<double>(sum) * 1e9 * tenths / static_cast<double>(lasts));
        }
      });
      for (std::size_t key = w.id; key < keys; key += r.threads) {
        const std::uint64_t left = slots[key].load(std::memory_order_relaxed);
        if (left != 0) w.release(block_of(left), size, key);
      }
    });
  }
};

}  // namespace polder::bench
