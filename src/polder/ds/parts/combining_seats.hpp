#pragma once
// combining_seats — a combiner with a record for each thread number: a thread goes on with that of one that ended.
#include <optional>

#include <polder/ds/parts/combining.hpp>
#include <polder/ds/parts/own_number.hpp>
#include <polder/ds/parts/per_thread.hpp>

namespace polder::ds {

template <class Sequence>
class combining_seats {
  using combiner = combining<Sequence>;

 public:
  using element = typename combiner::element;

  // What a thread asks through. Throws std::bad_alloc, the first time.
  class seat {
   public:
    explicit seat(combining_seats& s) : of_(s.combiner_), mine_(s.records_.at(number_)) {}
    // False: there was no memory for it, and e is as it was.
    bool put(element& e) noexcept { return of_.put(mine_, e); }
    // Nothing: it is empty.
    std::optional<element> take() noexcept { return of_.take(mine_); }

   private:
    own_number number_;
    combiner& of_;
    typename combiner::record& mine_;
  };

 private:
  combiner combiner_;
  per_thread<typename combiner::record> records_;
};

}  // namespace polder::ds
