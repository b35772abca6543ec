#pragma once
// small — histories made by hand and by chance, and what the efficient checkers say of them in one word.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "checker/deque.hpp"
#include "checker/emptiness.hpp"
#include "checker/general.hpp"
#include "checker/queue.hpp"
#include "checker/stack.hpp"
#include "probe/random.hpp"

namespace polder::checker {

// For hand-written ones, each operation as if by a thread of its own unless said.
inline event put(std::uint64_t value, std::uint64_t from, std::uint64_t to, side at = side::left) {
  return {call::put, value, at, from, to};
}
inline event get(std::uint64_t value, std::uint64_t from, std::uint64_t to, side at = side::left) {
  return {call::get, value, at, from, to};
}
inline event empty(std::uint64_t from, std::uint64_t to, side at = side::left) {
  return {call::empty, 0, at, from, to};
}

inline bool is_queue(const history& h) {
  const elements of = elements_of(h);
  return of.sane() && queue(of.all) && emptiness_of(of.all, of.empties).exact();
}
inline bool is_stack(const history& h) {
  const elements of = elements_of(h);
  return of.sane() && stack(of.all) && emptiness_of(of.all, of.empties).exact();
}
inline bool is_pool(const history& h) {
  const elements of = elements_of(h);
  return of.sane() && emptiness_of(of.all, of.empties).exact();
}

// Operations at random moments of a few threads, whose answers are those of a sequential structure, each operation
// taken at a random moment of its own; then, some times, one answer is changed or two are exchanged, or an operation is
// shortened.
class small_histories {
 public:
  explicit small_histories(std::uint64_t seed, unsigned most = 12) : random_(seed), most_(most) {}

  enum class kind { queue, stack, deque, pool };

  history next(kind of) {
    const unsigned operations = 1 + unsigned(random_.below(most_)), threads = 1 + unsigned(random_.below(4));
    // Coarse or fine: with many equal moments or few.
    const std::uint64_t step = random_.below(2) == 0 ? 3 : 12, overlap = 1 + random_.below(3);
    struct planned {
      event e;
      unsigned thread;
      std::uint64_t at;  // when it takes effect, in sixteenths
    };
    std::vector<planned> plan;
    std::vector<std::uint64_t> free(threads, random_.below(3));
    for (unsigned i = 0; i != operations; ++i) {
      const unsigned t = unsigned(random_.below(threads));
      planned p{{call::empty, 0}, t, 0};
      p.e.from = free[t] + random_.below(step) / overlap;
      p.e.to = p.e.from + random_.below(step * overlap);
      p.at = 16 * p.e.from + random_.below(16 * (p.e.to - p.e.from) + 1);
      p.e.at = of == kind::deque && random_.below(2) == 0 ? side::right : side::left;
      if (random_.below(100) < 52) p.e.what = call::put, p.e.value = i + 1;
      free[t] = p.e.to + random_.below(2);
      plan.push_back(p);
    }
    std::stable_sort(plan.begin(), plan.end(), [](const planned& a, const planned& b) { return a.at < b.at; });
    std::vector<std::uint64_t> inside;
    for (planned& p : plan) answer(of, p.e, inside);
    for (std::uint64_t n = random_.below(3); n != 0; --n) {
      event& a = plan[random_.below(plan.size())].e;
      event& b = plan[random_.below(plan.size())].e;
      switch (random_.below(5)) {
        case 0:
        case 1:
          if (a.what != call::put && b.what != call::put) {
            const event was = a;
            a.what = b.what, a.value = b.value, b.what = was.what, b.value = was.value;
          }
          break;
        case 2:
          if (a.what == call::get) a.what = call::empty, a.value = 0;
          break;
        case 3:
          if (a.what == call::empty) a.what = call::get, a.value = 1 + random_.below(operations + 1);
          break;
        default:
          if (random_.below(2) == 0) a.from += random_.below(a.to - a.from + 1);
          else a.to -= random_.below(a.to - a.from + 1);
      }
    }
    history h(threads);
    for (const planned& p : plan) h[p.thread].push_back(p.e);
    return h;
  }

 private:
  void answer(kind of, event& e, std::vector<std::uint64_t>& inside) {
    if (e.what == call::put) {
      inside.insert(of == kind::deque && e.at == side::left ? inside.begin() : inside.end(), e.value);
    } else if (!inside.empty()) {
      auto at = inside.begin();
      if (of == kind::stack || (of == kind::deque && e.at == side::right)) at = inside.end() - 1;
      if (of == kind::pool) at += std::ptrdiff_t(random_.below(inside.size()));
      e.what = call::get, e.value = *at;
      inside.erase(at);
    }
  }

  probe::random random_;
  unsigned most_;  // operations
};

}  // namespace polder::checker
