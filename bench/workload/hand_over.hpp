#pragma once
// hand_over — threads that put elements into one collection and threads that take them out: Scal's producer-consumer,
// producer-only, consumer-only and sequential alternating runs.
#include "collection/balance.hpp"
#include "collection/chosen.hpp"
#include "collection/quality.hpp"
#include "core/busy.hpp"
#include "core/meeting.hpp"
#include "core/operation_times.hpp"
#include "core/run.hpp"

namespace polder::bench {

struct hand_over {
  static constexpr parameter own_parameters[] = {
      {"roles", 0, 0, 0, "",
       "half put and half get; all put; all get what was put before; each puts and gets in turn",
       "half|put|get|alternating"},
      {"elements", 400'000, 1, 1'000'000'000, "elements", "put by all threads together"},
      {"work", 250, 0, 1'000'000, "cycles", "between two operations of a thread"},
      {"timed", 0, 0, 1'000'000, "operations", "of which one is timed, on average; 0: none"},
      {"quality", 0, 0, 1, "", "1: what is put and got is recorded, and how far from its order it came is told"},
  };
  static constexpr auto parameters = collection_choice::and_also(own_parameters);
  static constexpr preset presets[] = {
      {"dq-c250", "Haas and others 2013: half and half, 10^6 operations a thread in the original, c = 250",
       "elements=1000000 work=250"},
      {"dq-c2000", "the same, c = 2000", "elements=1000000 work=2000"},
      {"kfifo-c1000", "Kirsch and others 2013: c = 1000", "elements=1000000 work=1000"},
      {"kfifo-c4000", "the same, c = 4000", "elements=1000000 work=4000"},
      {"kfifo-c7000", "the same, c = 7000", "elements=400000 work=7000"},
      {"kfifo-c10000", "the same, c = 10000", "elements=400000 work=10000"},
      {"ts-put", "Dodds and others 2015: producers alone, 10^6 a thread in the original",
       "roles=put elements=1000000 work=0"},
      {"ts-get", "the same: consumers alone, of what all threads put in before",
       "roles=get elements=1000000 work=0"},
      {"alternating", "each thread puts and gets in turn", "roles=alternating work=250"},
      {"quick", "shorter", "elements=100000"},
      {"smoke", "for tests", "elements=4000"},
  };
  static constexpr workload_info info{
      .name = "hand_over",
      .title = "Elements from hand to hand",
      .paper = "Haas et al. 2013, 2016; Kirsch et al. 2013; Dodds et al. 2015",
      .what = "Threads put elements into one queue, stack or pool, and others take them out; work lies between.",
      .shows = "What a structure's ends cost when many pull at them, and its reclaimer and the heap behind it.",
      .parameters = parameters,
      .presets = presets,
      .group = "structures",
  };

  static void execute(run& r) {
    const std::size_t elements = std::max<std::size_t>(r.with.size("elements"), r.threads);
    const std::string_view roles = r.with.word("roles");
    const bool halves = roles == "half" && r.threads != 1;
    const auto collection = collection_choice::open(r, {.elements = elements,
                                                        .putters = halves ? r.threads / 2 : r.threads,
                                                        .getters = halves ? r.threads - r.threads / 2 : r.threads,
                                                        .asks_in_vain = false});
    const busy work(static_cast<std::uint64_t>(r.with["work"]));
    operation_times times(r.threads, static_cast<unsigned>(r.with["timed"]));
    element_balances balances(r.threads);
    quality order(r.with["quality"] != 0, *collection, r.threads, elements);
    meeting all(r.threads);
    std::atomic<std::uint64_t> empty{0}, full{0};

    r.measure([&](worker& w) {
      element_hands hands(order.view(w.id), balances.of(w.id));
      collection->enter_thread();
      random distances(~r.seed, w.id);
      std::uint64_t untimed = times.draw(distances);
      const auto timed = [&](auto operation) {
        const bool look = --untimed == 0;
        const std::uint64_t from = look ? times.begin() : 0;
        operation();
        if (look) [[unlikely]] {
          times.end(w.id, from);
          untimed = times.draw(distances);
        }
        ++w.operations;
        work();
      };
      std::uint64_t serial = std::uint64_t{w.id} << 40;
      const auto put = [&] { timed([&] { hands.put(++serial); }); };
      const auto get = [&] { timed([&] { w.salt += hands.get(); }); };
      const auto begin = [&] {
        all.wait(w.id == 0, [&] { collection_choice::record(r); });
        w.begin_ns = now_ns();
      };

      if (r.threads == 1 || roles == "alternating") {
        begin();
        for (std::size_t i = share(elements, w.id, r.threads); i != 0; --i) put(), get();
        w.stop_clock();
      } else if (roles == "half") {
        const unsigned putters = r.threads / 2, getters = r.threads - putters;
        begin();
        if (w.id < putters) {
          for (std::size_t i = share(elements, w.id, putters); i != 0; --i) put();
        } else {
          for (std::size_t i = share(elements, w.id - putters, getters); i != 0; --i) get();
        }
        w.stop_clock();
      } else {
        const std::size_t mine = share(elements, w.id, r.threads);
        if (roles == "get") {
          for (std::size_t i = mine; i != 0; --i) hands.put(++serial);
        }
        begin();
        for (std::size_t i = mine; i != 0; --i) roles == "put" ? put() : get();
        w.stop_clock();
        all.wait();
        if (roles == "put") {
          for (std::size_t i = mine; i != 0; --i) w.salt += hands.get();
        }
      }
      empty.fetch_add(hands.empty(), std::memory_order_relaxed);
      full.fetch_add(hands.full(), std::memory_order_relaxed);
      collection->leave_thread();
    });

    balances.check(r);
    r.tell("said_empty", static_cast<double>(empty.load(std::memory_order_relaxed)));
    r.tell("said_full", static_cast<double>(full.load(std::memory_order_relaxed)));
    times.tell(r);
    order.tell(r);
    collection_choice::close(r, *collection);
  }

 private:
  static std::size_t share(std::size_t all, unsigned number, unsigned of) { return all / of + (number < all % of); }
};

}  // namespace polder::bench
