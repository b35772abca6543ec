#pragma once
// putting_destructor — what is retired gives something back to the collection when it is freed, as a session its buffer to a free list:
// at any moment at which a guard of the collection's own opens or closes.
#include <gtest/gtest.h>

#include <polder/ds/tree/eager_test.hpp>
#include <polder/smr/all.hpp>

namespace polder::ds {

template <template <class, class> class Collection>
void loses_nothing_that_destructors_put() {
  using pool = Collection<long, smr::debra>;
  static pool* into;
  static long freed;
  struct session : smr::debra::header {
    ~session() {
      ++freed;
      into->put(-1);
    }
  };
  eager::drained<smr::debra> d;
  pool c(d);
  into = &c;
  freed = 0;
  constexpr long puts = 100'000;
  long retired = 0, got = 0;
  for (long i = 0; i != puts; ++i) {
    c.put(i);
    if (i * 7 % 16 >= 4) continue;
    smr::debra::guard<1> g(d);
    g.retire(g.template make<session>());
    ++retired;
  }
  d.drain();
  while (c.get()) ++got;
  EXPECT_EQ(freed, retired);
  EXPECT_EQ(got, puts + retired);
}

}  // namespace polder::ds
