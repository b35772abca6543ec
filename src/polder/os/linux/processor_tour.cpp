#include <polder/os/linux/processor_set.hpp>
#include <polder/os/processor_tour.hpp>
#include <polder/os/system_call.hpp>

#include <fcntl.h>

#include <cerrno>
#include <cstdint>

namespace polder::os {
namespace {

// What getdents64 says of a file.
struct entry {
  std::uint64_t node;
  std::int64_t next;
  std::uint16_t bytes;
  std::uint8_t type;
  char name[];
};

// f(number) of each thread of the process; those that begin meanwhile may be left out. False: nobody says, or f did.
template <class F>
bool all_threads(F&& f) noexcept {
  const long folder = system_call(SYS_openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return false;
  alignas(entry) char told[2048];
  bool all = true, some = false;
  long got;
  while ((got = system_call(SYS_getdents64, folder, told, sizeof told)) > 0) {
    for (long at = 0; at < got; at += reinterpret_cast<const entry*>(told + at)->bytes) {
      const char* name = reinterpret_cast<const entry*>(told + at)->name;
      if (*name == '.') continue;
      std::uint32_t number = 0;
      for (; *name != '\0'; ++name) number = 10 * number + std::uint32_t(*name - '0');
      some = true;
      all = all && f(number);
    }
  }
  system_call(SYS_close, folder);
  return all && some && got == 0;
}

}  // namespace

bool tour_processors() noexcept {
  processor_set was, reach;
  if (processor_set::read(0, was) != 0) return false;
  bool everywhere = processor_set::all().go() && processor_set::read(0, reach) == 0;
  everywhere = everywhere && all_threads([&](std::uint32_t number) {
                 processor_set others;
                 const long error = processor_set::read(number, others);
                 return error == -ESRCH || (error == 0 && reach.covers(others));  // it may have ended meanwhile
               });
  for (unsigned n = 0; everywhere && n != processor_set::most; ++n) {
    if (reach.has(n)) everywhere = processor_set::one(n).go();
  }
  // Whoever could go anywhere can also go to processors that come later.
  static_cast<void>(was.covers(reach) ? processor_set::all().go() : was.go());
  return everywhere;
}

}  // namespace polder::os
