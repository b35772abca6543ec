#pragma once
// double_word_model — sync/double_word.hpp in the world of the model checker: one word of Relacy's that has two halves.
//
// Stronger than the native one in one respect: a half is read from the same history as the other, so of two loads of
// different halves the later one is never staler. Who relies on cas() to tell whether two readings belong together does not
// notice.
#include <cstdint>
#include <ostream>

#include <polder/sync/atomic.hpp>

namespace polder {

struct double_value {
  std::uint64_t first = 0, second = 0;
  friend bool operator==(const double_value&, const double_value&) = default;
  friend std::ostream& operator<<(std::ostream& out, const double_value& v) {
    return out << v.first << ':' << v.second;
  }
};

class double_word {
  using place = model::place;

 public:
  double_word() : double_word(double_value{}) {}
  explicit double_word(double_value v) { value_.store(v, rl::mo_relaxed, model::info(place::current())); }
  double_word(const double_word&) = delete;
  double_word& operator=(const double_word&) = delete;

  std::uint64_t first(order o, place at = place::current()) const {
    return value_.load(mo(o, at), model::info(at)).first;
  }
  std::uint64_t second(order o, place at = place::current()) const {
    return value_.load(mo(o, at), model::info(at)).second;
  }
  double_value load(order o, place at = place::current()) const { return value_.load(mo(o, at), model::info(at)); }

  bool cas(double_value& expected, double_value desired, order success, order failure,
           place at = place::current()) {
    // As atomic_model.hpp has it.
    success = model::ordered(success, at);
    failure = model::ordered(failure, at, 1);
    const bool stronger = failure == order::acquire && (success == order::relaxed || success == order::release);
    const bool swapped = value_.compare_exchange(rl::bool_t<false>(), expected, desired, rl_order(success),
                                                 rl_order(stronger ? order::relaxed : failure), model::info(at));
    if (!swapped && stronger) rl::atomic_thread_fence(rl::mo_acquire, model::info(at));
    return swapped;
  }

  std::uint64_t add_first(std::uint64_t n, order o, place at = place::current()) {
    return replace_first([n](std::uint64_t was) { return was + n; }, o, at);
  }
  void or_first(std::uint64_t bits, order o, place at = place::current()) {
    replace_first([bits](std::uint64_t was) { return was | bits; }, o, at);
  }
  bool cas_first(std::uint64_t& expected, std::uint64_t desired, order success, order failure,
                 place at = place::current()) {
    double_value now{expected, second(order::relaxed, at)};
    while (!cas(now, {desired, now.second}, success, failure, at)) {
      if (now.first != expected) return expected = now.first, false;
    }
    return true;
  }

 private:
  template <class F>
  std::uint64_t replace_first(F next, order o, place at) {
    double_value now = load(order::relaxed, at);
    while (!cas(now, {next(now.first), now.second}, o, order::relaxed, at)) {
    }
    return now.first;
  }
  static rl::memory_order rl_order(order o) { return static_cast<rl::memory_order>(o); }
  static rl::memory_order mo(order o, place at) { return rl_order(model::ordered(o, at)); }

  rl::generic_atomic<double_value, false> value_;
};

}  // namespace polder
