#pragma once
// atomic_model — the words of sync/atomic.hpp in the world of the model checker (Relacy).
//
// The same names and signatures as the native world. What differs:
//   * every operation is a point at which the scheduler may run another thread;
//   * a relaxed or acquire load may return any value that the C++ memory model lets it return;
//   * plain<T> reports a race when two accesses are not ordered;
//   * signal_fence() is either nothing, which is what the processor sees, or a real fence (see membarrier_world).
//
// Relacy limits: a CAS that fails reads the newest value; stores to one word are ordered as they are executed; a load
// looks back at most three values.
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <source_location>
#include <type_traits>

// Relacy redefines ordinary words. Restore them: protocol files say `= delete` and models include what they like.
#pragma push_macro("new")
#pragma push_macro("delete")
#pragma push_macro("malloc")
#pragma push_macro("calloc")
#pragma push_macro("realloc")
#pragma push_macro("free")
#pragma push_macro("assert")
#pragma push_macro("errno")
#include <relacy/relacy.hpp>
#undef memory_order_relaxed
#undef memory_order_consume
#undef memory_order_acquire
#undef memory_order_release
#undef memory_order_acq_rel
#undef memory_order_seq_cst
#undef $
#pragma pop_macro("new")
#pragma pop_macro("delete")
#pragma pop_macro("malloc")
#pragma pop_macro("calloc")
#pragma pop_macro("realloc")
#pragma pop_macro("free")
#pragma pop_macro("assert")
#pragma pop_macro("errno")

namespace polder {

enum class order : int {
  relaxed = rl::mo_relaxed,
  acquire = rl::mo_acquire,
  release = rl::mo_release,
  acq_rel = rl::mo_acq_rel,
  seq_cst = rl::mo_seq_cst,
};

namespace model {

// How membarrier(2) is modelled. Both are run, because each is exact where the other is not.
//   paired      the light side and the heavy side are seq_cst fences: exact between the two threads that meet, too
//               strong on the light side (the native light fence is no instruction)
//   systemwide  the light side is nothing, the heavy side a fence executed by every thread at once: exact on the light
//               side, too strong between third threads
enum class membarrier_world { paired, systemwide };
inline membarrier_world membarrier = membarrier_world::paired;

using place = std::source_location;
// One order of one line may be taken for relaxed: test/model/mutants.py asks for it, so that it compiles a model once.
// POLDER_MODEL_WEAKEN=FILE:LINE:ORDER:WHICH, of a CAS the first or the second; what was so is said when the program ends.
struct weakening {
  char file[256] = {};
  unsigned line = 0;
  int o = 0, which = 0;
  bool met = false;
  weakening() {
    const char* const asked = std::getenv("POLDER_MODEL_WEAKEN");
    if (asked != nullptr) std::sscanf(asked, "%255[^:]:%u:%d:%d", file, &line, &o, &which);
  }
  ~weakening() {
    if (met) std::fprintf(stderr, "weakened %s:%u\n", file, line);
  }
};
inline weakening weak;

inline order ordered(order o, place at, int which = 0) {
  if (at.line() != weak.line || int(o) != weak.o || which != weak.which) [[likely]]
    return o;
  if (std::strcmp(at.file_name(), weak.file) != 0) return o;
  weak.met = true;
  return order::relaxed;
}

inline rl::debug_info info(place at) { return {at.function_name(), at.file_name(), unsigned(at.line())}; }

template <std::size_t Bytes>
using word_of = std::conditional_t<
    Bytes == 1, std::uint8_t,
    std::conditional_t<Bytes == 2, std::uint16_t, std::conditional_t<Bytes == 4, std::uint32_t, std::uint64_t>>>;

}  // namespace model

inline void fence(order o, model::place at = model::place::current()) {
  o = model::ordered(o, at);
  if (o != order::relaxed) rl::atomic_thread_fence(static_cast<rl::memory_order>(o), model::info(at));
}

inline void signal_fence(model::place at = model::place::current()) {
  if (model::membarrier == model::membarrier_world::paired) fence(order::seq_cst, at);
}

namespace model {
// The heavy side: what membarrier(2) is to the native world. True: the barrier took place.
inline bool heavy_fence(place at = place::current()) {
  if (membarrier == membarrier_world::paired) {
    fence(order::seq_cst, at);
  } else {
    rl::ctx().sched();  // Relacy's has no point of its own at which another thread may run before it
    rl::systemwide_fence(info(at));
  }
  return true;
}
}  // namespace model

template <class T>
class atomic {
  using word = model::word_of<sizeof(T)>;
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) == sizeof(word));
  using place = model::place;

 public:
  atomic() : atomic(T{}) {}
  explicit atomic(T v) { store(v, order::relaxed); }
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;

  T load(order o, place at = place::current()) const { return out(value_.load(mo(o, at), model::info(at))); }
  void store(T v, order o, place at = place::current()) { value_.store(in(v), mo(o, at), model::info(at)); }
  T exchange(T v, order o, place at = place::current()) {
    return out(value_.exchange(in(v), mo(o, at), model::info(at)));
  }

  bool cas(T& expected, T desired, order success, order failure, place at = place::current()) {
    // Relacy refuses a failure order stronger than the success order; an acquire fence after a relaxed failure is
    // the same edge.
    success = model::ordered(success, at);
    failure = model::ordered(failure, at, 1);
    const bool stronger = failure == order::acquire && (success == order::relaxed || success == order::release);
    word seen = in(expected);
    const bool swapped = value_.compare_exchange(rl::bool_t<false>(), seen, in(desired), rl_order(success),
                                                 rl_order(stronger ? order::relaxed : failure), model::info(at));
    if (!swapped && stronger) rl::atomic_thread_fence(rl::mo_acquire, model::info(at));
    expected = out(seen);
    return swapped;
  }

  T fetch_add(T v, order o, place at = place::current()) { return value_.fetch_add(v, mo(o, at), model::info(at)); }
  T fetch_sub(T v, order o, place at = place::current()) { return value_.fetch_sub(v, mo(o, at), model::info(at)); }
  T fetch_or(T v, order o, place at = place::current()) { return value_.fetch_or(v, mo(o, at), model::info(at)); }
  T fetch_and(T v, order o, place at = place::current()) { return value_.fetch_and(v, mo(o, at), model::info(at)); }

 private:
  static word in(T v) { return std::bit_cast<word>(v); }
  static T out(word w) { return std::bit_cast<T>(w); }
  static rl::memory_order rl_order(order o) { return static_cast<rl::memory_order>(o); }
  static rl::memory_order mo(order o, place at) { return rl_order(model::ordered(o, at)); }

  rl::generic_atomic<word, false> value_;
};

template <class T>
class plain {
  using word = model::word_of<sizeof(T)>;
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) == sizeof(word));

 public:
  plain() : plain(T{}) {}
  explicit plain(T v) : value_(std::bit_cast<word>(v)) {}
  T get(model::place at = model::place::current()) const {
    return std::bit_cast<T>(word(value_(model::info(at)).load()));
  }
  void set(T v, model::place at = model::place::current()) {
    value_(model::info(at)).store(std::bit_cast<word>(v));
  }

 private:
  rl::var<word> value_;
};

}  // namespace polder
