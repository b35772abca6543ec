#pragma once
// span_pool — the one backend: all free spans, in a stack for each real-span size and core.
//
//   paper      Aigner et al. 2015, sec. 3.3, listing 1, figure 2; a distributed stack after Haas et al. 2013
//   progress   lock-free; a search that finds nothing has looked into each stack once
//   in malloc  yes
//   invariant  a free span is in one stack, or in the hands of one thread
//   deviation  stacks of span numbers with a tag of 32 bits (sync/index_stack.hpp) instead of addresses with one of 16:
//              a thread would have to sleep through 2^32 pops of one stack, and not 2^16, to be deceived.
//              test/model/scalloc_tags.cpp shows what a narrow tag does
//
// As in the paper the search is no linearizable emptiness check: a span that is given behind the searcher is missed, and
// the arena pays. What one thread puts into a stack and takes out of it is a stack's order.
#include <cstdint>

#include <polder/base/config.hpp>
#include <polder/heap/scalloc/size_classes.hpp>
#include <polder/heap/scalloc/span.hpp>
#include <polder/sync/index_stack.hpp>

namespace polder::heap::scalloc {

class span_pool {
 public:
  static constexpr unsigned most_cores = 64;

  // As many stacks a size as the process has cores; 1: the ablation without a span-pool.
  explicit span_pool(unsigned cores) noexcept : cores_(cores < most_cores ? cores : most_cores) {}

  unsigned cores() const { return cores_; }

  template <class Links>
  void put(span& s, unsigned real_index, unsigned thread, Links&& links) noexcept {
    stacks_[real_index][thread % cores_].stack.push(s.number, links);
  }

  // A free span, most wanted one whose real span has the same size; 0: none was found.
  template <class Links>
  span_number get(unsigned real_index, unsigned thread, Links&& links) noexcept {
    const unsigned core = thread % cores_;
    if (const span_number n = stacks_[real_index][core].stack.pop(links)) return n;
    for (auto& of_a_size : stacks_)
      for (unsigned i = 0; i < cores_; ++i)
        if (const span_number n = of_a_size[i].stack.pop(links)) return n;
    return 0;
  }

  // Calls f(span number) for every span in the pool, each of which is the caller's meanwhile: another thread's search may
  // miss it. This is the compaction call that section 3.3 mentions.
  template <class Links, class F>
  void each(Links&& links, F&& f) noexcept {
    for (auto& of_a_size : stacks_)
      for (unsigned i = 0; i < cores_; ++i) {
        const span_number first = of_a_size[i].stack.take_all(links);
        span_number last = first;
        for (span_number n = first; n != 0; n = links(n).load(order::relaxed)) f(last = n);
        if (first != 0) of_a_size[i].stack.push_list(first, last, links);
      }
  }

 private:
  struct alignas(false_sharing_range) padded {
    index_stack stack;
  };
  unsigned cores_;
  padded stacks_[real_spans::count][most_cores];
};

}  // namespace polder::heap::scalloc
