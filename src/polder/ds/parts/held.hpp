#pragma once
// held — room in a node for an element that comes and goes while the node stays.
#include <memory>
#include <utility>

namespace polder::ds {

template <class E>
class held {
 public:
  held() noexcept {}  // without one
  explicit held(E&& e) noexcept : e_(std::move(e)) {}
  held(const held&) = delete;
  held& operator=(const held&) = delete;
  ~held() {}  // who owns the node knows whether there is one, and has taken it

  // Not while there is one.
  void put(E&& e) noexcept { std::construct_at(std::addressof(e_), std::move(e)); }
  // The one that is there.
  E take() noexcept {
    E e(std::move(e_));
    std::destroy_at(std::addressof(e_));
    return e;
  }
  // The same, in the place of e. Elements are moved as they are made, never assigned.
  void take_to(E& e) noexcept {
    std::destroy_at(std::addressof(e));
    std::construct_at(std::addressof(e), take());
  }

 private:
  union {
    E e_;
  };
};

}  // namespace polder::ds
