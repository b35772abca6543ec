#pragma once
// thread_slot — smr/thread_slot.hpp for structures that have a model. In the world of the model checker: thread_slot_model.hpp.
#if defined(POLDER_MODEL)
#include <polder/ds/parts/thread_slot_model.hpp>
#else
#include <polder/smr/thread_slot.hpp>

namespace polder::ds {

using smr::thread_slot;

}  // namespace polder::ds

#endif
