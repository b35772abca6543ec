#pragma once
// single_scan — looks through several backends for an element once: it may say "empty" while a put behind its back was
// followed by a get before it. Scal's names end in "nonlinempty"; Haas et al., CONCUR 2016, sec. 6.
#include <polder/ds/collection_info.hpp>
#include <polder/ds/parts/exact_scan.hpp>

namespace polder::ds {

struct single_scan {
  static constexpr emptiness says = emptiness::may_err;

  template <class Pass>
  static auto over(Pass&& pass) {
    tally ignored;
    return pass(ignored);
  }
};

}  // namespace polder::ds
