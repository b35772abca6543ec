#pragma once
// shape_names — the public names of a structure whose shape is a parameter: a queue's, a stack's; of a pool put and get alone.
#include <type_traits>

#include <polder/ds/collection_info.hpp>
#include <polder/ds/parts/collection.hpp>

namespace polder::ds {

struct pool_names {};

template <shape Kind, class Self, class T>
using shape_names = std::conditional_t<Kind == shape::queue, queue_names<Self, T>,
                                       std::conditional_t<Kind == shape::stack, stack_names<Self, T>, pool_names>>;

}  // namespace polder::ds
