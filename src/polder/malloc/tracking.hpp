#pragma once
// tracking — whether the face's heap tells a memory checker of its blocks, and which: the variants `valgrind` and `asan`. In the
// usual build it is the heap itself, and there is nothing here.
#if defined(POLDER_TRACK_VALGRIND)
#include <polder/heap/tracked.hpp>
#include <polder/heap/valgrind_tracker.hpp>
#elif defined(POLDER_TRACK_ASAN)
#include <polder/heap/asan_tracker.hpp>
#include <polder/heap/tracked.hpp>
#endif

#include <polder/heap/options.hpp>

namespace polder::face {

#if defined(POLDER_TRACK_VALGRIND)
template <class Heap>
using tracking = heap::tracked<Heap, heap::valgrind_tracker>;
#elif defined(POLDER_TRACK_ASAN)
template <class Heap>
using tracking = heap::tracked<Heap, heap::asan_tracker>;
#else
template <class Heap>
using tracking = Heap;
#endif

// What a heap does when nobody asks for anything else.
template <class Heap>
constexpr heap::options usual_options() {
  heap::options o = heap::defaults(heap::tunables_of<Heap>());
  if constexpr (requires { Heap::usual_arena_size; }) o.arena_size = Heap::usual_arena_size;
  return o;
}

}  // namespace polder::face
