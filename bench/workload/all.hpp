#pragma once
// all — the registry of workloads. What stands here is listed, run, tested and measured.
#include <polder/base/type_list.hpp>

#include "workload/active_false.hpp"
#include "workload/binary_trees.hpp"
#include "workload/calloc_zero.hpp"
#include "workload/fork_storm.hpp"
#include "workload/fragmentation.hpp"
#include "workload/graph_search.hpp"
#include "workload/growing_set.hpp"
#include "workload/growth_then_idle.hpp"
#include "workload/hand_over.hpp"
#include "workload/idle_threads.hpp"
#include "workload/large_blocks.hpp"
#include "workload/larson.hpp"
#include "workload/linux_scalability.hpp"
#include "workload/lock_free_producer_consumer.hpp"
#include "workload/mandelbrot.hpp"
#include "workload/message_passing.hpp"
#include "workload/mixed.hpp"
#include "workload/object_sizes.hpp"
#include "workload/passive_false.hpp"
#include "workload/producer_consumer.hpp"
#include "workload/realloc_growth.hpp"
#include "workload/set.hpp"
#include "workload/shbench.hpp"
#include "workload/spatial_locality.hpp"
#include "workload/thread_churn.hpp"
#include "workload/threadtest.hpp"

namespace polder::bench {

using all_workloads =
    type_list<threadtest, linux_scalability, shbench, larson, active_false, passive_false, producer_consumer,
              lock_free_producer_consumer, object_sizes, spatial_locality, binary_trees, growing_set, large_blocks,
              realloc_growth, calloc_zero, mixed, message_passing, growth_then_idle, fragmentation, thread_churn,
              idle_threads, fork_storm, set, hand_over, mandelbrot, graph_search>;

}  // namespace polder::bench
