#pragma once
// numbered — a thing for each thread's number, from 1 to Most, in pages that come when they are needed; both stay until
// the end.
//
//   progress   wait-free, but for the allocator's part the first time
//   invariant  a page that is linked is never changed for another
#include <array>
#include <cstdint>

#include <polder/base/config.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::ds {

// Together: how many things a page has.
template <class Thing, class Memory, std::uint32_t Most, std::uint32_t Together = 256>
class numbered {
 public:
  using number = std::uint32_t;

  numbered() = default;
  numbered(const numbered&) = delete;
  numbered& operator=(const numbered&) = delete;
  ~numbered() {
    for (atomic<page*>& place : pages_) {
      page* const p = place.load(order::relaxed);
      if (p == nullptr) continue;
      for (atomic<Thing*>& t : p->of) delete t.load(order::relaxed);
      delete p;
    }
  }

  // Null before the thread of that number writes what it made by `new`. Throws std::bad_alloc.
  atomic<Thing*>& at(number n) {
    atomic<page*>& place = pages_[n / Together];
    page* p = place.load(order::acquire);  // sync: numbered-page
    if (p == nullptr) [[unlikely]] {
      page* const made = make();
      if (place.cas(p, made, order::acq_rel, order::acquire)) p = made;  // sync: numbered-page
      else delete made;
    }
    return p->of[n % Together];
  }

 private:
  struct page : Memory {
    std::array<atomic<Thing*>, Together> of;  // each written by the thread of that number
  };
  POLDER_NOINLINE static page* make() { return new page; }

  // pages_ — null until a thread of such a number comes. Order: numbered-page: the page is seen empty or later.
  std::array<atomic<page*>, Most / Together + 1> pages_;
};

}  // namespace polder::ds
