#pragma once
// sleeping_lock — the lock of a node: a word, and who waits long for it sleeps, so that the holder gets the processor.
//
//   progress   blocking
//   in malloc  yes, as os/futex.hpp
//
// In the world of the model checker who waits lets others run: sleeping_lock_model.hpp.
#if defined(POLDER_MODEL)
#include <polder/ds/parts/sleeping_lock_model.hpp>
#else
#include <polder/os/futex.hpp>

namespace polder::ds {

using sleeping_lock = owned_lock;
using os::holding;

}  // namespace polder::ds

#endif
