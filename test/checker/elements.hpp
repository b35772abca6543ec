#pragma once
// elements — a history by what was put in: for each value when its put and its get were called and returned.
//
// Between the return of its put and the call of its get an element is certainly inside; before its put was called and
// after its get returned it certainly is not. One that was never got is inside for ever: its get begins and ends at
// `never`.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "checker/history.hpp"
#include "checker/verdict.hpp"

namespace polder::checker {

constexpr std::uint64_t never = ~std::uint64_t{0};

struct element {
  std::uint64_t value;
  std::uint64_t put_from, put_to;
  std::uint64_t get_from = never, get_to = never;
  std::uint32_t putter = 0;  // thread

  bool was_got() const { return get_to != never; }
  // Whether there is a moment at which it is certainly inside; the moments are those between put_to and get_from.
  bool surely_inside() const { return put_to < get_from; }
};

struct moments {
  std::uint64_t from, to;
};

struct elements {
  std::vector<element> all;
  std::vector<moments> empties;              // gets that found nothing
  std::size_t left = 0;                      // were never got
  std::vector<std::uint64_t> doubled = {};   // came out more than once
  std::vector<std::uint64_t> invented = {};  // came out and were never put

  // Each value was put once and came out at most once, and not before its put was called. Every other checker needs it.
  verdict sane() const {
    if (!invented.empty()) return {"value " + std::to_string(invented.front()) + " came out and was never put"};
    if (!doubled.empty()) return {"value " + std::to_string(doubled.front()) + " came out more than once"};
    for (const element& e : all) {
      if (e.get_to < e.put_from) return {"value " + std::to_string(e.value) + " came out before it was put"};
    }
    return {};
  }
};

inline elements elements_of(const history& h) {
  struct got {
    std::uint64_t value, from, to;
  };
  elements found;
  std::vector<got> gets;
  std::size_t puts = 0, taken = 0, empties = 0;
  for (const std::vector<event>& part : h) {
    for (const event& e : part) ++(e.what == call::put ? puts : e.what == call::get ? taken : empties);
  }
  found.all.reserve(puts), gets.reserve(taken), found.empties.reserve(empties);
  for (std::size_t t = 0; t != h.size(); ++t) {
    for (const event& e : h[t]) {
      switch (e.what) {
        case call::put: found.all.push_back({e.value, e.from, e.to, never, never, std::uint32_t(t)}); break;
        case call::get: gets.push_back({e.value, e.from, e.to}); break;
        case call::empty: found.empties.push_back({e.from, e.to}); break;
      }
    }
  }
  const auto by_value = [](const auto& a, const auto& b) { return a.value < b.value; };
  if (!std::is_sorted(found.all.begin(), found.all.end(), by_value))
    std::sort(found.all.begin(), found.all.end(), by_value);
  std::sort(gets.begin(), gets.end(), by_value);
  auto e = found.all.begin();
  for (const got& g : gets) {
    while (e != found.all.end() && e->value < g.value) ++e;
    if (e == found.all.end() || e->value != g.value) {
      found.invented.push_back(g.value);
    } else if (e->was_got()) {
      found.doubled.push_back(g.value);
    } else {
      e->get_from = g.from, e->get_to = g.to;
    }
  }
  for (const element& i : found.all) found.left += !i.was_got();
  return found;
}

}  // namespace polder::checker
