#pragma once
// instance — the one heap that serves the process, and the only mutable global besides the host's.
//
// Which heap it is says the build: POLDER_HEAP is the name of one in the registry. The registry holds heaps over some
// host; here the same heap stands over this one.
#include <string_view>
#include <type_traits>

#include <polder/base/type_list.hpp>
#include <polder/heap/all.hpp>
#include <polder/malloc/host.hpp>

#ifndef POLDER_HEAP
#define POLDER_HEAP polder
#endif

namespace polder::face {

#define POLDER_TEXT_OF(name) #name
#define POLDER_TEXT(name) POLDER_TEXT_OF(name)
inline constexpr std::string_view chosen_heap = POLDER_TEXT(POLDER_HEAP);
#undef POLDER_TEXT
#undef POLDER_TEXT_OF

template <class Heaps>
struct choice {
  static_assert(Heaps::size != 0, "POLDER_HEAP names no heap of heap/all.hpp");
};

template <template <class> class Heap, class OtherHost, class... Rest>
struct choice<type_list<Heap<OtherHost>, Rest...>> {
  static auto find() {
    if constexpr (Heap<OtherHost>::info.name == chosen_heap) {
      return std::type_identity<Heap<host>>{};
    } else {
      return choice<type_list<Rest...>>::find();
    }
  }
};

using heap_instance = typename decltype(choice<heap::all>::find())::type;

[[gnu::visibility("hidden")]] extern constinit heap_instance instance;

}  // namespace polder::face
