// profile — of polder.h: who holds the memory. And the process's own way to it, by options.
#include <polder.h>

#include <fcntl.h>
#include <signal.h>

#include <cerrno>

#include <polder/malloc/instance.hpp>
#include <polder/malloc/profile.hpp>
#include <polder/malloc/profile_text.hpp>
#include <polder/malloc/public.hpp>
#include <polder/os/backtrace.hpp>
#include <polder/os/ended_thread.hpp>
#include <polder/os/errno_keeper.hpp>
#include <polder/os/linux/file_letters.hpp>
#include <polder/os/linux/without_signal.hpp>
#include <polder/os/print.hpp>
#include <polder/os/system_call.hpp>

namespace polder::face {

constinit code_range own_code;

namespace {

template <class Heap>
concept profiled = requires(const Heap& h) { h.profile(); };

// Where the process was when it began: a program may change its folder.
constinit char folder[480];

template <class Heap>
int start(Heap& heap, std::uint64_t mean) {
  if constexpr (profiled<Heap>) {
    switch (heap.start_profile(mean != 0 ? mean : heap.effective_options().profile_rate)) {
      case heap::profiling::no_memory: return ENOMEM;
      case heap::profiling::other_mean: return EBUSY;
      case heap::profiling::done: break;
    }
    return 0;
  } else {
    return ENOTSUP;
  }
}

template <class Heap>
int stop(Heap& heap) {
  if constexpr (profiled<Heap>) {
    heap.stop_profile();
    return 0;
  } else {
    return ENOTSUP;
  }
}

template <class Heap>
bool is_on(const Heap& heap) {
  if constexpr (profiled<Heap>) return heap.is_profiling();
  else return false;
}

template <class Heap>
int write(Heap& heap, int fd, int what) {
  if constexpr (profiled<Heap>) {
    if (what != POLDER_PROFILE_BLOCKS && what != POLDER_PROFILE_WASTE) return EINVAL;
    const mem::heap_profile* const p = heap.profile();
    if (p == nullptr) return ENODATA;
    profile_text text(*p, fd);
    if (what == POLDER_PROFILE_BLOCKS) return text.write_blocks();
    return text.write_waste([&](const mem::sampled_block& b) { return heap.waste_beside(b); });
  } else {
    return ENOTSUP;
  }
}

// Lines are apart, so that their buffers are not on the stack while a file is written: the handler may run on one of 8 KiB, of which
// the kernel takes 3 on a processor with AVX-512, and Rust's programs give it no other.
[[gnu::cold]] POLDER_NOINLINE void say_not_written(std::string_view path, int error) {
  os::line() << "polder: " << path << ": cannot be written, errno " << error;
}

[[gnu::cold]] POLDER_NOINLINE void say_lost(std::uint64_t samples) {
  os::line() << "polder: profile: there was no room for " << samples
             << " samples; a larger profile_rate needs less";
}

// Nobody's but a new file or one that was written so before: another may have made a link or a pipe of that name.
void write_file(std::string_view ending, int what) {
  const os::without_signal quiet(SIGXFSZ);
  const std::string_view file = instance.effective_options().profile.data();
  const bool whole = file.starts_with('/') || folder[0] == '\0';
  const os::file_path path(whole ? "" : folder, whole ? "" : "/", file, '.', os::own_process_number(), ending);
  const long fd = os::system_call(SYS_openat, AT_FDCWD, path.text().data(),
                                  O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644);
  const int error = fd < 0 ? int(-fd) : write(instance, int(fd), what);
  if (fd >= 0) os::system_call(SYS_close, fd);
  if (error != 0) say_not_written(path.text(), error);
}

template <class Heap>
std::uint64_t lost_by(const Heap& heap) {
  if constexpr (profiled<Heap>) return heap.profile() ? heap.profile()->lost.load(order::relaxed) : 0;
  else return 0;
}

void write_files() {
  const os::errno_keeper keep;
  write_file(".heap", POLDER_PROFILE_BLOCKS);
  write_file(".waste", POLDER_PROFILE_WASTE);
  if (const std::uint64_t lost = lost_by(instance); lost != 0) say_lost(lost);
}

bool names_a_file() { return instance.effective_options().profile[0] != '\0'; }

void on_signal(int) {
  const os::errno_keeper keep;
  if (!is_on(instance)) {
    start(instance, 0);
  } else {
    stop(instance);
    write_files();
  }
}

bool wait_for_signal(int number) {
  struct sigaction ours = {};
  ours.sa_handler = on_signal;
  ours.sa_flags = SA_RESTART | SA_ONSTACK;
  return ::sigaction(number, &ours, nullptr) == 0;
}

}  // namespace

void begin_profile() noexcept {
  const int number = int(instance.effective_options().profile_signal);
  if (!names_a_file()) {
    if (number != 0) os::line() << "polder: profile_signal: without profile=FILE there is nothing that it turns on";
    return;
  }
  const os::errno_keeper keep;
  if (os::system_call(SYS_getcwd, folder, sizeof folder) < 0) folder[0] = '\0';
  os::prepare_backtraces();  // here, not in a handler
  if (number != 0) {
    if (!wait_for_signal(number))
      os::line() << "polder: profile_signal: there is no signal " << number << " to wait for";
  } else if (const int error = start(instance, 0); error != 0) {
    os::line() << "polder: profile: " << (error == ENOTSUP ? "this heap has none" : "there is no memory for it");
  }
}

void end_profile() noexcept {
  if (names_a_file() && is_on(instance)) write_files();
}

}  // namespace polder::face

using namespace polder;
using namespace polder::face;

extern "C" {

POLDER_PUBLIC int polder_profile_start(size_t mean) noexcept { return start(instance, mean); }

POLDER_PUBLIC int polder_profile_stop() noexcept { return stop(instance); }

POLDER_PUBLIC int polder_profile_write(int fd, int what) noexcept { return write(instance, fd, what); }

}  // extern "C"
