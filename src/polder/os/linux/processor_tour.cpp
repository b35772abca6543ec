#include <polder/os/processor_tour.hpp>
#include <polder/os/system_call.hpp>

#include <fcntl.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace polder::os {
namespace {

struct processor_set {
  static constexpr unsigned most = 8192;  // the kernel refuses where it has more, and is built for so many at most
  static constexpr unsigned in_word = 8 * sizeof(unsigned long);
  unsigned long words[most / in_word] = {};

  // Of a thread, 0: the calling one. 0, or the error, negative.
  static long read(std::uint32_t thread, processor_set& to) noexcept {
    const long bytes = system_call(SYS_sched_getaffinity, thread, sizeof to.words, to.words);
    return bytes > 0 ? 0 : bytes;
  }
  static processor_set all() noexcept {
    processor_set s;
    std::memset(s.words, 0xff, sizeof s.words);
    return s;
  }
  static processor_set one(unsigned n) noexcept {
    processor_set s;
    s.words[n / in_word] = 1ul << n % in_word;
    return s;
  }
  bool has(unsigned n) const noexcept { return (words[n / in_word] >> n % in_word & 1) != 0; }
  bool covers(const processor_set& other) const noexcept {
    bool all = true;
    for (unsigned i = 0; i != most / in_word; ++i) all = all && (other.words[i] & ~words[i]) == 0;
    return all;
  }
  // The calling thread runs on one of these from now on. False: on none of them may it.
  bool go() const noexcept { return system_call(SYS_sched_setaffinity, 0, sizeof words, words) == 0; }
};

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
