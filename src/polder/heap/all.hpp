#pragma once
// all — the registry of heaps. What stands here is built, tested, measured and offered by name.
#include <string_view>

#include <polder/base/type_list.hpp>
#include <polder/heap/polder/polder_heap.hpp>

namespace polder::heap {

template <class Host>
using all = type_list<polder_heap<Host>>;

template <std::string_view const& name, class List>
struct find_by_name;
template <std::string_view const& name, class H, class... Rest>
struct find_by_name<name, type_list<H, Rest...>> {
  static constexpr auto pick() {
    if constexpr (H::info.name == name) return static_cast<H*>(nullptr);
    else return find_by_name<name, type_list<Rest...>>::pick();
  }
};

// The heap that calls itself `name`.
template <std::string_view const& name, class Host>
using named = std::remove_pointer_t<decltype(find_by_name<name, all<Host>>::pick())>;

}  // namespace polder::heap
