#pragma once
// instance — the one heap that serves the process, and the only mutable global besides the host's.
//
// Which heap it is says the build: POLDER_HEAP is the name of one in the registry.
#include <string_view>

#include <polder/heap/all.hpp>
#include <polder/malloc/host.hpp>
#include <polder/malloc/tracking.hpp>

#ifndef POLDER_HEAP
#define POLDER_HEAP polder
#endif

namespace polder::face {

#define POLDER_TEXT_OF(name) #name
#define POLDER_TEXT(name) POLDER_TEXT_OF(name)
inline constexpr std::string_view chosen_heap = POLDER_TEXT(POLDER_HEAP);
#undef POLDER_TEXT
#undef POLDER_TEXT_OF

using heap_instance = tracking<heap::named<chosen_heap, host>>;

// The options that it has and other heaps do not.
inline constexpr auto own_options = heap::tunables_of<heap_instance>();

[[gnu::visibility("hidden")]] extern constinit heap_instance instance;

[[gnu::visibility("hidden")]] extern const char malloc_is_linked;  // where malloc is

}  // namespace polder::face
