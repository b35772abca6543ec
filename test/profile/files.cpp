// Requirement 18: how a profile's files are written, by the signal's handler: on a small alternate stack, over no link, and at the limit
// on the size of files without the signal that kills. Under POLDER_OPTIONS=profile=files,profile_rate=512,profile_signal=12.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "../probe/the_heap.hpp"
#include "sites.hpp"

using namespace polder;

namespace {

constexpr std::size_t stack_of_rust = 8192;  // what its library gives each thread for handlers

std::string file(const char* ending) { return "files." + std::to_string(::getpid()) + ending; }

void turn_on_and_off() {
  ::raise(SIGUSR2);
  for (int i = 0; i < 1000; ++i) std::free(profile_test::first_site(64));
  ::raise(SIGUSR2);
}

long size_of(const std::string& name) {
  struct stat s;
  return ::lstat(name.c_str(), &s) == 0 ? long(s.st_size) : -1;
}

}  // namespace

int main() {
  // With a page below that may not be touched.
  char* const pages = static_cast<char*>(
      ::mmap(nullptr, 4 * stack_of_rust, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  probe::expect(pages != MAP_FAILED && ::mprotect(pages, stack_of_rust, PROT_NONE) == 0, "mmap");
  const stack_t small{.ss_sp = pages + stack_of_rust, .ss_flags = 0, .ss_size = stack_of_rust};
  probe::expect(::sigaltstack(&small, nullptr) == 0, "sigaltstack");
  turn_on_and_off();
  probe::expect(size_of(file(".heap")) > 100 && size_of(file(".waste")) > 0, "no files were written");
  ::unlink(file(".heap").c_str());
  ::unlink(file(".waste").c_str());

  const std::string target = file(".target");
  const int fd = ::open(target.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
  probe::expect(fd >= 0 && ::write(fd, "theirs", 6) == 6 && ::close(fd) == 0, "a file of somebody's");
  probe::expect(::symlink(target.c_str(), file(".heap").c_str()) == 0, "symlink");
  probe::expect(::mkfifo(file(".waste").c_str(), 0600) == 0, "mkfifo");
  turn_on_and_off();
  probe::expect(size_of(target) == 6, "a link was followed");
  ::unlink(file(".heap").c_str());
  ::unlink(file(".waste").c_str());
  ::unlink(target.c_str());

  const rlimit none{0, 0};
  probe::expect(::setrlimit(RLIMIT_FSIZE, &none) == 0, "setrlimit");
  turn_on_and_off();
  ::unlink(file(".heap").c_str());
  ::unlink(file(".waste").c_str());
}
