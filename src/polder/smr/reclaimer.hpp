#pragma once
// reclaimer — what safe memory reclamation is asked for, whatever the scheme.
//
//   R::domain d;                                     // all state of one reclaimer; several live side by side
//   typename R::template guard<2> g(d);              // from here on, what protect() returns stays readable
//   node* const n = g.protect(0, head);
//   … unlink n …
//   g.retire(n);                                     // freed once no guard can reach it
//
// Threads attach to a domain with their first guard and leave it when they end; nothing has to be registered. Guards
// nest, each with slots of its own, on one thread; a guard stays on the thread that opened it. retire() is legal inside
// guards, in deleters and in destructors, and so are guards in thread-local destructors. A node type that is retired
// derives from R::header and is made by make(), or by new: then a scheme of eras does not know its birth, and keeps it for
// every reader that began before it was retired.
//
// Two kinds of protection, which is a fact about a structure's algorithm too:
//   region   whatever could be reached when the guard opened, or later, stays readable until the guard closes
//   pointer  what protect() returned stays readable until its slot is used again. The structure must see that the word
//            it protected from was still part of it: a word of a node that is unlinked proves nothing
// A structure that reads on from unlinked nodes asks for a region_reclaimer, which is a second concept.
//
// A third is a restartable_reclaimer: its guards run a search in a read phase, which may be broken off anywhere and begun
// anew. In the phase everything that can be reached is readable; after it, what the search reserved.
//
//   const place p = g.read([&](auto& r) {            // runs once or more; only its result counts
//     … node* const n = r.protect(0, word); …
//     r.reserve(0, n);
//     return place{…};
//   });
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <polder/smr/kind.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::smr {

enum class protection { region, pointer };

// What a scheme states about itself; each statement is held by a test.
struct scheme_info {
  std::string_view name;
  std::string_view title;
  std::string_view paper;
  int year;
  protection protects;
  std::string_view
      readers;  // progress of opening a guard, protect and closing: begins with wait-free, lock-free, blocking
  std::string_view retirers;  // progress of retire
  bool bounded;               // a stalled reader keeps only so much from being freed
  std::string_view bound;     // how much, in words
  std::string_view stall;     // what a thread that stalls inside a guard, or idles outside, does to the others
  unsigned words_per_object;  // of a node, besides what the structure needs
};

// What a domain has seen, summed over its threads. Each figure is a glimpse: exact when no thread is inside.
struct garbage {
  std::uint64_t retired = 0, reclaimed = 0;              // objects
  std::uint64_t retired_bytes = 0, reclaimed_bytes = 0;  // what kind::weigh says of them
  std::uint64_t unreclaimed() const { return retired - reclaimed; }
  std::uint64_t unreclaimed_bytes() const { return retired_bytes - reclaimed_bytes; }
};

// The address in a word that protect() reads: of a pointer, itself. Words with marks bring an overload of their own.
template <class T>
constexpr const void* address_of(T* p) noexcept {
  return p;
}

namespace proof {
struct any_node {};
struct any_search {
  const atomic<any_node*>& source;
  template <class View>
  any_node* operator()(View& r) const {
    any_node* const p = r.protect(0u, source);
    r.reserve(0u, p);  // slots are the guard's
    return p;
  }
};
}  // namespace proof

template <class R>
concept reclaimer = requires {
  { R::info } -> std::convertible_to<scheme_info>;
  typename R::domain;
  typename R::header;
  typename R::template guard<1>;
  requires std::constructible_from<typename R::template guard<1>, typename R::domain&>;
} && requires(typename R::domain& d) {
  d.synchronize();  // returns when every guard that was open has closed; not inside a guard of this domain
  d.drain();        // returns when everything retired before has been reclaimed; not inside a guard
  { d.statistics() } -> std::same_as<garbage>;
} && requires(typename R::template guard<1>& g, const atomic<proof::any_node*>& source, proof::any_node* p) {
  { g.protect(0u, source) } -> std::same_as<proof::any_node*>;  // slots are numbered from 0
  g.hold(0u, p);                                                // keeps in a slot what another slot keeps now
  g.clear(0u);
};

template <class R>
concept region_reclaimer = reclaimer<R> && (R::info.protects == protection::region);

template <class R>
concept restartable_reclaimer = reclaimer<R> && requires { requires R::restarts; } &&
                                requires(typename R::template guard<1>& g, const proof::any_search& search) {
                                  { g.read(search) } -> std::same_as<proof::any_node*>;
                                };

}  // namespace polder::smr
