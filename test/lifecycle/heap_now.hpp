#pragma once
// heap_now — what the preloaded heap says of itself.
#include <dlfcn.h>
#include <polder.h>

#include "../probe/expect.hpp"

namespace polder::lifecycle {

inline polder_statistics heap_now() {
  using reader = int(polder_statistics*);
  static auto* const read = reinterpret_cast<reader*>(::dlsym(RTLD_DEFAULT, "polder_read_statistics"));
  probe::expect(read != nullptr, "no heap is preloaded that tells of itself");
  polder_statistics now{};
  now.size = sizeof now;
  probe::expect(read(&now) == 0, "polder_read_statistics");
  return now;
}

}  // namespace polder::lifecycle
