#pragma once
// partial_lists — what the lists of partial superblocks must keep, whatever their order, under the model checker: a
// descriptor has one holder, what is known of it travels with it, none is lost.
#include <string>

#include <polder/heap/michael/counted.hpp>

#include "explore.hpp"

namespace polder::heap::michael {

constexpr unsigned listed = 3;

struct entry {
  atomic<counted> link;
  atomic<std::uint32_t> item;
  plain<std::uint32_t> node;
  std::uint32_t number = 0;
  plain<int> contents;
  atomic<std::uint32_t> empty;
};

// Two lists over one table, as two size classes have; 1 … 3 are listed in the first, 3 was put last.
template <class List>
struct lists {
  entry table[listed + 3];
  List list[2];

  entry& at(std::uint32_t n) { return table[n]; }
  void stock() {
    for (std::uint32_t i = 0; i != listed + 3; ++i) {
      table[i].number = i;
      table[i].node.set(i);
    }
    list[0].begin(*this, listed + 1);
    list[1].begin(*this, listed + 2);
    for (std::uint32_t i = 1; i <= listed; ++i) list[0].put(*this, table[i]);
  }
  void touch(entry& e) { e.contents.set(e.contents.get() + 1); }
  entry* get(unsigned from = 0) {
    entry* const e = list[from].get(*this);
    if (e) touch(*e);
    return e;
  }
  void put(entry* e, unsigned to = 0) {
    if (!e) return;
    touch(*e);
    list[to].put(*this, *e);
  }
  entry* take_empty() {
    entry* taken = nullptr;
    list[0].remove_empty(
        *this, [](const entry& one) { return one.empty.load(order::relaxed) != 0; }, [&](entry& e) { taken = &e; });
    if (taken) touch(*taken);
    return taken;
  }
  void all_there() {
    bool seen[listed + 3] = {};
    for (auto& l : list)
      l.each(*this, [&](entry& e) {
        POLDER_MODEL_CHECK(e.number != 0 && e.number <= listed && !seen[e.number]);
        seen[e.number] = true;
      });
    for (unsigned i = 1; i <= listed; ++i) POLDER_MODEL_CHECK(seen[i]);
  }
};

template <class List>
struct round_trips : rl::test_suite<round_trips<List>, 3>, lists<List> {
  void before() { this->stock(); }
  void thread(unsigned self) {
    entry* const first = this->get();
    entry* const second = this->get();
    this->put(first, self & 1);
    this->put(second);
  }
  void after() { this->all_there(); }
};

// One is put while the others take: the last node and the first are neighbours, or the same.
template <class List>
struct nearly_none : rl::test_suite<nearly_none<List>, 3>, lists<List> {
  entry* held[2];
  void before() {
    this->stock();
    for (entry*& e : held) e = this->get();
  }
  void thread(unsigned self) {
    if (self < 2) this->put(held[self]);
    else this->put(this->get());
    if (self == 0) this->put(this->get());
  }
  void after() { this->all_there(); }
};

// Empty ones are taken from wherever they lie, while others take and put. With three threads every execution of one
// switch would be sixteen million: two threads are explored so, and three by chance.
template <class List, int Threads>
struct removals : rl::test_suite<removals<List, Threads>, Threads>, lists<List> {
  void before() {
    this->stock();
    this->table[2].empty.store(1, order::relaxed);
  }
  void thread(unsigned self) {
    if (self == Threads - 1) {
      this->put(this->get(), 1);
      this->put(this->get(1));
    } else {
      entry* const e = this->take_empty();
      if (e) {
        POLDER_MODEL_CHECK(e->empty.load(order::relaxed) != 0);
        this->put(e, 1);
      } else if (self == 0) {
        this->put(this->get());
      }
    }
  }
  void after() { this->all_there(); }
};

// Every search over List; `name` goes before the titles.
template <class List>
int explore_partial_lists(const std::string& name) {
  using namespace polder::model;
  bool ok = true;
  const auto every = [&]<class World>(const char* what, unsigned switches) {
    const std::string title = name + ": " + what;
    ok &= passes<World>({.title = title.c_str(), .how = search::bounded, .floor = 100, .switches = switches});
  };
  const auto by_chance = [&]<class World>(const char* what) {
    const std::string title = name + ": " + what;
    ok &= passes<World>({.title = title.c_str(), .executions = 20'000});
  };
  every.template operator()<round_trips<List>>("round trips", 1);
  by_chance.template operator()<round_trips<List>>("round trips");
  every.template operator()<nearly_none<List>>("nearly none", 1);
  by_chance.template operator()<nearly_none<List>>("nearly none");
  every.template operator()<removals<List, 2>>("removals", 2);
  by_chance.template operator()<removals<List, 3>>("removals");
  return ok ? 0 : 1;
}

}  // namespace polder::heap::michael
