#pragma once
// ring_worlds — what threads do to a ring of two elements, and what must hold whatever the order of their steps.
#include <cstddef>
#include <cstdlib>
#include <new>
#include <optional>

#include <polder/sync/atomic.hpp>

#include "explore.hpp"

namespace polder::model {

// Whose reads and writes are checked for races. Numbers begin at 1; one that was moved away is -1.
struct element {
  plain<int> number;
  explicit element(int n) noexcept : number(n) {}
  element(element&& other) noexcept : number(other.number.get()) { other.number.set(-1); }
  element& operator=(element&& other) noexcept {
    number.set(other.number.get());
    other.number.set(-1);
    return *this;
  }
};

// Relacy has operators new and delete of its own while it runs, and a structure may be made and end outside.
struct apart {
  static void* operator new(std::size_t bytes) { return std::malloc(bytes); }
  static void operator delete(void* p) noexcept { std::free(p); }
  static void* operator new(std::size_t bytes, std::align_val_t a) {
    return std::aligned_alloc(std::size_t(a), bytes);
  }
  static void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
};

template <class Ring, unsigned Threads>
struct counting {
  Ring ring;
  int put_[Threads] = {}, got_[Threads] = {};  // sums

  bool put(unsigned self, int n) {
    const bool in = ring.put(typename Ring::value_type(n));
    if (in) put_[self] += 1 << 4 * n;
    return in;
  }
  int get(unsigned self) {
    const std::optional<typename Ring::value_type> e = ring.get();
    if (!e) return 0;
    const int n = e->number.get();
    POLDER_MODEL_CHECK(n > 0);
    got_[self] += 1 << 4 * n;
    return n;
  }
  // Nobody is at work: what was put and not got is inside, and nothing else.
  void after() {
    while (get(0) != 0) {
    }
    int put = 0, got = 0;
    for (unsigned t = 0; t != Threads; ++t) put += put_[t], got += got_[t];
    POLDER_MODEL_CHECK(put == got);
  }
};

template <class Ring>
struct meeting : rl::test_suite<meeting<Ring>, 2>, counting<Ring, 2> {
  void thread(unsigned self) {
    if (self == 0) this->put(0, 1);
    else this->get(1);
  }
  void after() { counting<Ring, 2>::after(); }
};

// One puts, over and over through both cells, the other gets: in order.
template <class Ring>
struct one_each_way : rl::test_suite<one_each_way<Ring>, 2>, counting<Ring, 2> {
  void thread(unsigned self) {
    if (self == 0) {
      for (int n = 1, tries = 0; n != 4 && tries != 4; ++tries) n += this->put(0, n);
    } else {
      for (int last = 0, tries = 0; tries != 3; ++tries) {
        if (const int n = this->get(1)) {
          POLDER_MODEL_CHECK(n == last + 1);
          last = n;
        }
      }
    }
  }
  void after() { counting<Ring, 2>::after(); }
};

template <class Ring>
struct crossing : rl::test_suite<crossing<Ring>, 2>, counting<Ring, 2> {
  void thread(unsigned self) {
    this->put(self, int(2 * self + 1));
    this->get(self);
    this->put(self, int(2 * self + 2));
    this->get(self);
  }
  void after() { counting<Ring, 2>::after(); }
};

template <class Ring>
struct three : rl::test_suite<three<Ring>, 3>, counting<Ring, 3> {
  void thread(unsigned self) {
    this->put(self, int(self + 1));
    this->get(self);
    if (self == 2) this->put(self, 4);
  }
  void after() { counting<Ring, 3>::after(); }
};

}  // namespace polder::model
