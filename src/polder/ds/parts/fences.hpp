#pragma once
// fences — smr/fences.hpp for structures that have a model. In the world of the model checker: fences_model.hpp.
#if defined(POLDER_MODEL)
#include <polder/ds/parts/fences_model.hpp>
#else
#include <polder/smr/fences.hpp>

namespace polder::ds {

using smr::fences;

}  // namespace polder::ds

#endif
