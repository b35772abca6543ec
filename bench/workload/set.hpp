#pragma once
// set — concurrent sets under any reclaimer and any drain: the thesis's experiment, and what it varies.
#include <polder/smr/all.hpp>

#include "core/places.hpp"
#include "core/run.hpp"
#include "set/set_table.hpp"
#include "set/words.hpp"

namespace polder::bench {

struct set {
  static constexpr std::string_view structures = POLDER_STRUCTURES;  // made by the build, as structure_table
  static constexpr std::string_view rivals =
      POLDER_RIVALS;  // the same: of other libraries, which reclaim themselves
  static constexpr joined_words reclaimers = names_of<smr::all>();
  static constexpr joined_words drains = names_of_drains();

  static constexpr joined_words any_structure = joined(structures, rivals);
  static constexpr joined_words any_reclaimer = joined(reclaimers.view(), "own");

  static constexpr parameter parameters[] = {
      {"structure", place_of("abtree", any_structure.view()), 0, 0, "", "what holds the keys",
       any_structure.view()},
      {"reclaimer", place_of("debra", any_reclaimer.view()), 0, 0, "",
       "who says when what was deleted may be freed; own: a rival's", any_reclaimer.view()},
      {"drain", 0, 0, 0, "", "how it is freed then", drains.view()},
      {"keys", 200'000, 2, 1'000'000'000, "keys", "drawn from; about half of them are in the set"},
      {"insert", 50, 0, 100, "percent", "of the operations"},
      {"delete", 50, 0, 100, "percent", "of the operations; the rest looks keys up"},
      {"range", 0, 0, 100, "percent", "of the operations, which read a range of keys"},
      {"range_keys", 1000, 1, 1'000'000'000, "keys", "of a range; about half of them are in the set"},
      {"theta", 0, 0, 500, "hundredths", "of Zipf's exponent; 0: all keys alike"},
      {"milliseconds", 1000, 1, 86'400'000, "ms", "in which operations are counted, after the set is filled"},
      {"steps", 0, 0, 1'000'000'000'000, "steps", "of each thread, however long they take; 0: `milliseconds` say"},
      {"timed", 0, 0, 1'000'000, "operations", "of which one is timed, on average; 0: none"},
      {"frees", 0, 0, 1, "", "1: each free that the reclaimer makes is timed"},
      {"pinning", 0, 0, 0, "", "cores: thread after thread to the next core", "none|cores"},
      {"interleave", 0, 0, 1, "", "1: page after page on the next memory node"},
  };
  static constexpr preset presets[] = {
      {"kim-abtree", "the thesis, chapter 3: ABtree, 20 million keys, 5 s",
       "structure=abtree reclaimer=debra keys=20000000 milliseconds=5000"},
      {"kim-abtree-scaled", "the same with a tenth of the keys",
       "structure=abtree reclaimer=debra keys=2000000 milliseconds=1000"},
      {"kim-fig3.16", "the thesis, figure 3.16: ranges of 200,000 objects; what else is done it does not say",
       "structure=abtree reclaimer=debra keys=20000000 insert=0 delete=0 range=100 range_keys=400000 "
       "milliseconds=5000"},
      {"kim-fig3.16-scaled", "the same with a tenth of the keys",
       "structure=abtree reclaimer=debra keys=2000000 insert=0 delete=0 range=100 range_keys=400000 "
       "milliseconds=1000"},
      {"kim-leaky", "the thesis, section 3.2: nothing is freed; a tenth of the keys",
       "structure=abtree reclaimer=leaky keys=2000000 milliseconds=1000"},
      {"quick", "shorter", "structure=abtree reclaimer=debra keys=20000 milliseconds=100"},
      {"smoke", "for tests", "structure=abtree reclaimer=debra keys=2000 steps=20000"},
  };
  static constexpr workload_info info{
      .name = "set",
      .title = "Set under a reclaimer",
      .paper = "Kim 2023, ch. 3",
      .what =
          "Threads insert, delete and look up keys of one concurrent set; what is deleted is reclaimed and freed.",
      .shows = "What a reclaimer and the way it frees do to a structure and to the heap: speed, latency, garbage.",
      .parameters = parameters,
      .presets = presets,
      .group = "structures",
  };

  static void execute(run& r) {
    if (r.with["insert"] + r.with["delete"] + r.with["range"] > 100)
      r.reject("insert, delete and range are more than 100 percent together");
    if (r.with["interleave"] != 0) {
      if (memory_nodes() < 2) r.reject("this machine has one memory node: there is nothing to interleave");
      if (!interleave_over_nodes()) r.reject("the kernel does not let memory be interleaved here");
    }
    const set_job job{
        .structure = r.with.word("structure"),
        .reclaimer = r.with.word("reclaimer"),
        .drain = smr::all_drains[r.with["drain"]].policy,
        .keys = static_cast<std::uint64_t>(r.with["keys"]),
        .inserts = static_cast<unsigned>(r.with["insert"]),
        .deletes = static_cast<unsigned>(r.with["delete"]),
        .ranges = static_cast<unsigned>(r.with["range"]),
        .range_keys = static_cast<std::uint64_t>(r.with["range_keys"]),
        .theta = static_cast<unsigned>(r.with["theta"]),
        .milliseconds = r.with["milliseconds"],
        .steps = static_cast<std::uint64_t>(r.with["steps"]),
        .timed_every = static_cast<unsigned>(r.with["timed"]),
        .frees = r.with["frees"] != 0,
        .pinned = r.with.word("pinning") == "cores",
    };
    for (const structure_entry* e = structure_table; !e->name.empty(); ++e) {
      if (e->name != job.structure) continue;
      if (const char* const why = refuses(*e, job, r.with["drain"], !r.timeline.empty())) r.reject(why);
      if (const char* const why = e->execute(r, job)) r.reject(why);
      return;
    }
  }

 private:
  // What a rival is asked for that only ours have, or the other way round: an option is never silently ignored.
  static const char* refuses(const structure_entry& e, const set_job& job, std::int64_t drain, bool timeline) {
    if (!e.rival) return job.reclaimer == "own" ? "reclaimer=own is for structures of other libraries" : nullptr;
    if (job.reclaimer != "own") return "a structure of another library reclaims in its own way: reclaimer=own";
    if (drain != 0) return "a structure of another library frees in its own way: leave drain as it is";
    if (job.frees) return "frees are seen in our reclaimers alone: frees=0";
    if (job.ranges != 0) return "ranges are compared with nobody's: range=0";
    if (timeline) return "structures of another library record no timeline";
    return nullptr;
  }
};

}  // namespace polder::bench
