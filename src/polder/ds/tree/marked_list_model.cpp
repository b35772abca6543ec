// marked_list under the model checker: what is linked is whole, what was erased is gone, nothing is read that was freed.
#include <polder/ds/tree/marked_list.hpp>

#include <cstddef>
#include <new>
#include <utility>

#include "explore.hpp"
#include "structures.hpp"

namespace {

using polder::atomic;
using polder::order;
using polder::model::keeping;
using polder::model::key;
using polder::model::none;
using polder::model::protection;
using polder::model::protects_what;

constexpr unsigned slots = 3, guards = 3, nodes = 10;

using hazards = polder::model::hazards<guards, slots>;

template <class R>
struct world {
  struct scheme {
    static constexpr protects_what info = R::info;
    struct header {};
    template <unsigned>
    struct guard;
  };
  using list = polder::ds::marked_list<key, none, scheme>;
  using node = typename list::node;

  typename R::domain domain;
  alignas(16) std::byte room[nodes][sizeof(node)];
  atomic<unsigned> used{0};
  node* waiting[guards][nodes] = {};
  typename list::head first;

  ~world() {
    for (unsigned i = 0; i != used.load(order::relaxed); ++i) reinterpret_cast<node*>(room[i])->~node();
  }
  bool insert(unsigned self, int k) {
    typename scheme::template guard<slots> g(*this, self);
    return list::insert(g, first, key(k), none{});
  }
  bool erase(unsigned self, int k) {
    typename scheme::template guard<slots> g(*this, self);
    return list::erase(g, first, key(k), [](none) {});
  }
  bool contains(unsigned self, int k) {
    typename scheme::template guard<slots> g(*this, self);
    return list::look(g, first, key(k)) != nullptr;
  }
  bool at_rest(int k) {
    bool there = false;
    list::each(first, [&](const node& n) { there |= n.key.value() == k; });
    return there;
  }
};

template <class R>
template <unsigned N>
struct world<R>::scheme::guard {
  world& w;
  unsigned self;
  guard(world& of, unsigned s) : w(of), self(s) {}
  ~guard() {
    if constexpr (R::info.protects == protection::pointer) {
      for (auto& h : w.domain.held[self]) h.store(nullptr, order::release);
    }
  }
  template <class W>
  W protect(unsigned slot, const atomic<W>& word) {
    W now = word.load(order::acquire);
    if constexpr (R::info.protects == protection::pointer) {
      for (;;) {
        w.domain.held[self][slot].store(address_of(now), order::release);
        polder::fence(order::seq_cst);
        const W again = word.load(order::acquire);
        if (again == now) break;
        now = again;
      }
    }
    return now;
  }
  template <class T, class... Arguments>
  T* make(Arguments&&... arguments) {
    return new (w.room[w.used.fetch_add(1, order::relaxed)]) T(arguments...);
  }
  void unmake(node* n) { free(n); }
  void retire(node* n) {
    if constexpr (R::info.protects == protection::pointer) {
      for (node*& place : w.waiting[self]) {
        if (place == nullptr) {
          place = n;
          break;
        }
      }
      polder::fence(order::seq_cst);
      for (node*& place : w.waiting[self]) {
        if (place != nullptr && !held(place)) free(std::exchange(place, nullptr));
      }
    }
  }
  bool held(const node* n) {
    for (auto& thread : w.domain.held) {
      for (auto& h : thread) {
        if (h.load(order::acquire) == n) return true;
      }
    }
    return false;
  }
  static void free(node* n) { const_cast<key&>(n->key).number.set(-1); }
};

// Whatever succeeded, for each key: insertions less removals are what is there.
template <class R, unsigned Threads>
struct counted : world<R> {
  int balance[4][Threads] = {};
  void put(unsigned self, int k) { balance[k][self] += this->insert(self, k); }
  void drop(unsigned self, int k) { balance[k][self] -= this->erase(self, k); }
  void comes_out() {
    for (int k = 1; k != 4; ++k) {
      int sum = 0;
      for (const int b : balance[k]) sum += b;
      POLDER_MODEL_CHECK(sum == int(this->at_rest(k)));
    }
    world<R>::list::validate(this->first);
  }
};

// Two remove neighbours: the classic trap of a list without marks.
template <class R>
struct neighbours : rl::test_suite<neighbours<R>, 2>, counted<R, 2> {
  void before() {
    for (int k = 1; k != 4; ++k) this->put(0, k);
  }
  void thread(unsigned self) { this->drop(self, self == 0 ? 1 : 2); }
  void after() { this->comes_out(); }
};

// One inserts where the other removes, and both take the same key.
template <class R>
struct crossing : rl::test_suite<crossing<R>, 2>, counted<R, 2> {
  void before() {
    this->put(0, 1);
    this->put(0, 3);
  }
  void thread(unsigned self) {
    if (self == 0) {
      this->drop(0, 1);
      this->put(0, 1);
    } else {
      this->put(1, 2);
      this->drop(1, 1);
      POLDER_MODEL_CHECK(this->contains(1, 2));
    }
  }
  void after() { this->comes_out(); }
};

template <class R>
struct three : rl::test_suite<three<R>, 3>, counted<R, 3> {
  void before() {
    this->put(0, 1);
    this->put(0, 2);
  }
  void thread(unsigned self) {
    if (self == 0) {
      this->drop(0, 1);
      this->drop(0, 2);
    } else if (self == 1) {
      this->put(1, 3);
      this->drop(1, 2);
    } else {
      this->contains(2, 2);
      this->drop(2, 3);
    }
  }
  void after() { this->comes_out(); }
};

template <class R>
bool all(const char* two, const char* crossed, const char* of_three) {
  using namespace polder::model;
  bool ok = true;
  ok &= passes<neighbours<R>>({.title = two, .how = search::bounded, .floor = 100, .switches = 3});
  ok &= passes<crossing<R>>({.title = crossed, .how = search::bounded, .floor = 100, .switches = 2});
  ok &= passes<crossing<R>>({.title = crossed, .executions = 20'000});
  ok &= passes<three<R>>({.title = of_three, .executions = 20'000});
  return ok;
}

}  // namespace

int main() {
  bool ok = true;
  ok &= all<keeping>("list: neighbours", "list: crossing", "list: three threads");
  ok &= all<hazards>("list, hazards: neighbours", "list, hazards: crossing", "list, hazards: three threads");
  return ok ? 0 : 1;
}
