#pragma once
// pool — memory of reclaimed objects, kept by the thread that reclaimed them for what it makes next.
//
// A list a kind, few kinds: a structure has one or two. One thread's at a time. Only memory of made_kind comes here. A child
// of a fork finds lists that it can go on with: the steps stand in an order that the compiler keeps (bag.hpp).
#include <cstddef>
#include <new>

#include <polder/smr/kind.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::smr {

class pool {
 public:
  pool() = default;
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;
  ~pool() {
    for (list& l : lists_) {
      while (void* const memory = pop(l)) ::operator delete(memory);
    }
  }

  // Memory for one object of the kind, or null.
  [[nodiscard]] void* take(const kind& of) noexcept {
    for (list& l : lists_) {
      if (l.of == &of) return pop(l);
    }
    return nullptr;
  }

  // False: there is no room for it here.
  [[nodiscard]] bool give(const kind& of, void* memory) noexcept {
    if (of.bytes < sizeof(link)) return false;
    for (list& l : lists_) {
      if (l.of == nullptr) l.of = &of;
      if (l.of != &of) continue;
      if (l.size == most) return false;
      link* const top = new (memory) link{l.first};
      signal_fence();
      l.first = top;
      ++l.size;
      return true;
    }
    return false;
  }

 private:
  struct link {
    link* next;
  };
  struct list {
    const kind* of = nullptr;
    link* first = nullptr;
    std::size_t size = 0;
  };
  static void* pop(list& l) noexcept {
    link* const top = l.first;
    if (top == nullptr) return nullptr;
    l.first = top->next;
    signal_fence();
    --l.size;
    return top;
  }

  static constexpr std::size_t most = 4096;
  list lists_[4];
};

}  // namespace polder::smr
