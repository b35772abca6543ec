#pragma once
// chosen — the parameters by which a workload's collection is chosen, and the collection.
#include <array>

#include <polder/smr/all.hpp>

#include "collection/make.hpp"
#include "collection/table.hpp"
#include "core/run.hpp"
#include "set/words.hpp"

namespace polder::bench {

struct collection_choice {
  static constexpr std::string_view structures = POLDER_COLLECTIONS;  // made by the build, as collection_table
  static constexpr std::string_view rivals = POLDER_RIVAL_COLLECTIONS;
  static constexpr joined_words reclaimers = names_of<collection_reclaimers>();
  static constexpr joined_words drains = names_of_drains();
  static constexpr joined_words any_structure = joined(structures, rivals);
  static constexpr joined_words any_reclaimer = joined(reclaimers.view(), "own");

  static constexpr parameter parameters[] = {
      {"structure", place_of("ms-queue", any_structure.view()), 0, 0, "", "what holds the elements",
       any_structure.view()},
      {"reclaimer", place_of("debra", any_reclaimer.view()), 0, 0, "",
       "who says when a node may be freed; own: a rival's", any_reclaimer.view()},
      {"drain", 0, 0, 0, "", "how it is freed then", drains.view()},
      {"memory", 0, 0, 0, "", "of nodes: the heap's, or Scal's, which is never freed", "heap|preallocated"},
      {"size", 0, 0, 1 << 30, "", "k, p or capacity of those that have one; 0: their usual one"},
  };

  // These, and the workload's own.
  template <std::size_t N>
  static constexpr auto and_also(const parameter (&own)[N]) {
    std::array<parameter, std::size(parameters) + N> all{};
    std::size_t n = 0;
    for (const parameter& p : parameters) all[n++] = p;
    for (const parameter& p : own) all[n++] = p;
    return all;
  }

  // How a run uses its collection.
  struct use {
    std::size_t elements;       // that it puts, at most about
    unsigned putters, getters;  // at once
    bool asks_in_vain;          // it gets when nothing may be inside
  };
  static std::unique_ptr<any_collection> open(run& r, const use& by);

  // Before the measured phase, by one thread: a timeline, if one is asked for.
  static void record(run& r);

  // When nobody works any more: the timeline ends, and what was retired is reclaimed.
  static void close(run& r, any_collection& c);
};

}  // namespace polder::bench
