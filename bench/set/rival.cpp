#include <dlfcn.h>

#include "set/set_table.hpp"

namespace polder::bench {

const char* execute_rival(run& r, const set_job& job) {
#ifdef POLDER_RIVALS_MODULE
  void* const module = dlopen(POLDER_RIVALS_MODULE, RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) return dlerror();
  const auto* e = static_cast<const structure_entry*>(dlsym(module, rival_table_name));
  for (; e != nullptr && !e->name.empty(); ++e) {
    if (e->name == job.structure) return e->execute(r, job);
  }
#else
  static_cast<void>(r), static_cast<void>(job);
#endif
  return "this rival is not built";
}

}  // namespace polder::bench
