#include "collection/chosen.hpp"

#include <dlfcn.h>

#include <polder/os/timeline.hpp>
#include <string>

namespace polder::bench {

made_collection make_rival(const collection_job& job) {
#ifdef POLDER_RIVAL_COLLECTIONS_MODULE
  void* const module = dlopen(POLDER_RIVAL_COLLECTIONS_MODULE, RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) return {nullptr, dlerror()};
  const auto* e = static_cast<const collection_entry*>(dlsym(module, rival_collections_name));
  for (; e != nullptr && !e->name.empty(); ++e) {
    if (e->name == job.structure) return e->make(job);
  }
#else
  static_cast<void>(job);
#endif
  return {nullptr, "this rival is not built"};
}

namespace {

// What a rival is asked for that only ours have, or the other way round: an option is never silently ignored.
const char* refuses(const collection_entry& e, const collection_job& job, std::int64_t drain) {
  if (!e.rival) return job.reclaimer == "own" ? "reclaimer=own is for structures of other libraries" : nullptr;
  if (job.reclaimer != "own") return "a structure of another library reclaims in its own way: reclaimer=own";
  if (drain != 0) return "a structure of another library frees in its own way: leave drain as it is";
  if (job.memory != "heap") return "a structure of another library has its own memory: memory=heap";
  return nullptr;
}

}  // namespace

std::unique_ptr<any_collection> collection_choice::open(run& r, const use& by) {
  const collection_job job{
      .structure = r.with.word("structure"),
      .reclaimer = r.with.word("reclaimer"),
      .memory = r.with.word("memory"),
      .drain = smr::all_drains[r.with["drain"]].policy,
      .size = r.with.size("size"),
      .elements = by.elements,
  };
  for (const collection_entry* e = collection_table; !e->name.empty(); ++e) {
    if (e->name != job.structure) continue;
    if (const char* const why = refuses(*e, job, r.with["drain"])) r.reject(why);
    made_collection made = e->make(job);
    if (made.of == nullptr) r.reject(made.why);
    if (made.most_putters != 0 && by.putters > made.most_putters)
      r.reject("this structure is for fewer threads that put at once");
    if (made.most_getters != 0 && by.getters > made.most_getters)
      r.reject("this structure is for fewer threads that get at once");
    if (made.waits && by.asks_in_vain) r.reject("this structure waits for an element: hand_over is for it");
    return std::move(made.of);
  }
  r.reject("there is no such structure");
}

void collection_choice::record(run& r) {
  if (!r.timeline.empty() && !os::timeline::start({.file = r.timeline})) r.fail("no timeline");
}

void collection_choice::close(run& r, any_collection& c) {
  os::timeline::stop();
  const smr::garbage all = c.close();
  r.setup().allocations += 1 + all.retired;  // and the structure itself; finish() looks whether they balance
  r.setup().frees += 1 + all.reclaimed;
}

}  // namespace polder::bench
