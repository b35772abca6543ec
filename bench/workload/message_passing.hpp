#pragma once
// message_passing — bursts, and roles that are not alike: one thread allocates what many free, or many allocate what one
// frees. Memory flows one way only; nobody who allocates ever frees.
#include "core/channel.hpp"
#include "core/run.hpp"

namespace polder::bench {

struct message_passing {
  static constexpr parameter parameters[] = {
      {"roles", 0, 0, 1, "", "who is alone: the thread that allocates or the one that frees",
       "one_allocates|one_frees"},
      {"min", 16, 1, 1 << 20, "bytes", "smallest block"},
      {"max", 1024, 1, 1 << 20, "bytes", "greatest block"},
      {"messages", 6'000'000, 1, 1'000'000'000, "blocks", "allocated by all together"},
      {"burst", 1000, 1, 1 << 20, "blocks", "on average, to one receiver at a time"},
      {"drained", 0, 0, 1, "", "a burst begins only when the one before is freed", "no|yes"},
      {"capacity", 4096, 8, 1 << 20, "blocks", "of each queue, a power of two"},
  };
  static constexpr preset presets[] = {
      {"fan-out", "one allocates, many free", "roles=one_allocates"},
      {"fan-in", "many allocate, one frees", "roles=one_frees"},
      {"drained", "each burst is freed before the next: as much about the scheduler as about the heap",
       "drained=yes"},
      {"quick", "a quarter", "messages=1500000"},
      {"quick-fan-in", "a quarter", "roles=one_frees messages=1500000"},
      {"smoke", "for tests", "messages=5000 burst=100 capacity=64 drained=yes"},
      {"smoke-fan-in", "for tests", "roles=one_frees messages=5000 burst=100 capacity=64"},
  };
  static constexpr workload_info info{
      .name = "message_passing",
      .title = "Message passing in bursts",
      .paper = "the field since (snmalloc 2019, msgpass; mimalloc-bench, xmalloc)",
      .what = "Bursts of blocks go from one thread to many, or from many to one, and are freed there.",
      .shows = "Whether memory that flows one way comes back, and what a flood of remote frees costs either side.",
      .parameters = parameters,
      .presets = presets,
      .most_threads = 64,
      .group = "field",
  };

  struct message {
    void* block = nullptr;  // null: the sender has finished
    std::uint64_t key = 0;
    std::uint32_t size = 0;
    bool ends_burst = false;
  };

  struct alignas(128) tally {
    std::atomic<std::uint64_t> bursts{0};  // of one sender that were freed; written by receivers
  };

  static void execute(run& r) {
    const std::size_t capacity = r.with.size("capacity");
    const std::size_t min = r.with.size("min");
    const std::size_t max = r.with.size("max");
    const auto burst = static_cast<std::uint64_t>(r.with["burst"]);
    const bool drained = r.with.word("drained") == "yes";
    if ((capacity & (capacity - 1)) != 0) r.reject("'capacity' is not a power of two");
    if (min > max) r.reject("'min' is above 'max'");

    // Of thread 0 and the others, [first, last) of a role. A thread that is alone has both.
    const bool alone = r.threads == 1;
    const bool fan_out = r.with.word("roles") == "one_allocates";
    const unsigned first_sender = alone || fan_out ? 0 : 1;
    const unsigned last_sender = alone || fan_out ? 1 : r.threads;
    const unsigned first_receiver = alone || !fan_out ? 0 : 1;
    const unsigned last_receiver = alone || !fan_out ? 1 : r.threads;
    const unsigned senders = last_sender - first_sender;
    const std::size_t messages = std::max<std::size_t>(1, r.with.size("messages") / senders);
    post_office<message> post(r.threads, capacity);
    mapped_array<tally> freed(r.threads);

    r.measure([&](worker& w) {
      const bool sends = w.id >= first_sender && w.id < last_sender;
      const bool receives = w.id >= first_receiver && w.id < last_receiver;
      unsigned open = receives ? senders : 0;
      patience idle;
      const auto receive = [&] {
        bool any = false;
        for (unsigned from = first_sender; receives && from < last_sender; ++from) {
          message m;
          for (unsigned n = 0; n < 64 && post.between(from, w.id).try_take(m); ++n) {
            any = true;
            if (m.block == nullptr) {
              --open;
              continue;
            }
            w.release(m.block, m.size, m.key);
            ++w.operations;
            if (from != w.id) ++w.remote_frees;
            if (m.ends_burst) freed[from].bursts.fetch_add(1, std::memory_order_relaxed);
          }
        }
        return any;
      };
      const auto wait_for = [&](auto condition) {
        for (idle.reset(); !condition();) {
          if (!receive()) idle.wait();
        }
      };
      const auto send = [&](unsigned to, const message& m) {
        wait_for([&] { return post.between(w.id, to).try_put(m); });
      };

      if (sends) {
        unsigned to = first_receiver + w.id % (last_receiver - first_receiver);
        std::uint64_t bursts = 0;
        for (std::size_t sent = 0; sent < messages;) {
          const std::size_t size = std::min<std::size_t>(w.numbers.between(1, 2 * burst - 1), messages - sent);
          for (std::size_t i = 1; i <= size; ++i) {
            message m;
            m.size = static_cast<std::uint32_t>(w.numbers.between(min, max));
            m.key = w.next_key();
            m.block = w.allocate(m.size, m.key);
            m.ends_burst = i == size;
            send(to, m);
          }
          sent += size;
          ++bursts;
          if (drained) wait_for([&] { return freed[w.id].bursts.load(std::memory_order_relaxed) == bursts; });
          to = to + 1 == last_receiver ? first_receiver : to + 1;
        }
        w.operations += messages;
        for (unsigned each = first_receiver; each < last_receiver; ++each) send(each, message{});
      }
      wait_for([&] { return open == 0; });
    });
  }
};

}  // namespace polder::bench
