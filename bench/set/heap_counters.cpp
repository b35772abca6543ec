#include "set/heap_counters.hpp"

#include <dlfcn.h>
#include <polder.h>

#include <cstdio>
#include <string_view>

namespace polder::bench {

namespace {

template <class Function>
Function* found(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

void ask_polder(heap_counters& c) {
  const auto read = found<decltype(polder_read_statistics)>("polder_read_statistics");
  const auto heap = found<decltype(polder_heap)>("polder_heap");
  if (read == nullptr || heap == nullptr || std::string_view(heap()) != "polder")
    return;  // its variants count less
  polder_statistics s{};
  s.size = sizeof s;
  if (read(&s) != 0) return;
  c.remote_frees = s.remote_frees;
  if (s.size == sizeof s) c.flushes = s.posts;
}

class jemalloc {
 public:
  jemalloc() : control_(found<control>("mallctl")) {}

  void ask(heap_counters& c) {
    bool counts = false;
    if (control_ == nullptr || !read("config.stats", counts) || !counts) return;
    std::uint64_t epoch = 1;
    if (control_("epoch", nullptr, nullptr, &epoch, sizeof epoch) != 0) return;  // counts are as of this call
    unsigned bins = 0;
    if (!read("arenas.nbins", bins)) return;
    std::uint64_t flushes = 0;
    std::uint64_t handoffs = 0;
    for (unsigned i = 0; i != bins; ++i) {
      if (!add(i, "nflushes", flushes) || !add(i, "mutex.num_owner_switch", handoffs)) return;
    }
    c.flushes = flushes;
    c.lock_handoffs = handoffs;
  }

 private:
  using control = int(const char*, void*, std::size_t*, void*, std::size_t);

  template <class T>
  bool read(const char* name, T& value) {
    std::size_t size = sizeof value;
    return control_(name, &value, &size, nullptr, 0) == 0 && size == sizeof value;
  }
  // 4096 is the sum of all arenas (MALLCTL_ARENAS_ALL).
  bool add(unsigned bin, const char* what, std::uint64_t& sum) {
    char name[96];
    std::snprintf(name, sizeof name, "stats.arenas.4096.bins.%u.%s", bin, what);
    std::uint64_t n = 0;
    if (!read(name, n)) return false;
    sum += n;
    return true;
  }

  control* const control_;
};

}  // namespace

heap_counters heap_counters::now() {
  heap_counters c;
  ask_polder(c);
  jemalloc().ask(c);
  return c;
}

void heap_counters::tell_since(run& r, const heap_counters& then, std::uint64_t operations) const {
  const auto tell = [&](std::string_view name, const auto& now, const auto& before) {
    if (now && before && operations != 0)
      r.tell(name, 1000 * static_cast<double>(*now - *before) / static_cast<double>(operations));
  };
  tell("allocator_flushes", flushes, then.flushes);
  tell("allocator_remote_frees", remote_frees, then.remote_frees);
  tell("allocator_lock_handoffs", lock_handoffs, then.lock_handoffs);
}

}  // namespace polder::bench
