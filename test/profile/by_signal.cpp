// Requirement 18: a process that runs already is profiled by signals: the first turns it on, the second writes files and turns it
// off. Under POLDER_OPTIONS=profile=by_signal,profile_rate=512,profile_signal=12.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <string>

#include "sites.hpp"
#include "written.hpp"

using namespace polder;
using namespace polder::profile_test;

namespace {

std::atomic<bool> enough{false};
std::atomic<long> rounds{0};

// Never leaves the fast paths of its own accord.
void* work(void*) {
  while (!enough) std::free(first_site(64)), ++rounds;
  return nullptr;
}

void some_more_rounds() {
  const long now = rounds;
  while (rounds < now + 100'000) ::usleep(1000);
}

std::string file(const char* ending) { return "by_signal." + std::to_string(::getpid()) + ending; }

written read_file(const char* ending) {
  const int fd = ::open(file(ending).c_str(), O_RDONLY);
  probe::expect(fd >= 0, "there is no file %s", file(ending).c_str());
  const written w = parsed(contents_of(fd), false);
  ::close(fd);
  ::unlink(file(ending).c_str());
  return w;
}

}  // namespace

int main() {
  probe::expect(the_heap::profile_write(1, POLDER_PROFILE_BLOCKS) == ENODATA, "it is on before the signal");
  pthread_t other;
  probe::expect(::pthread_create(&other, nullptr, work, nullptr) == 0, "pthread_create");
  some_more_rounds();
  errno = 0;
  ::raise(SIGUSR2);
  probe::expect(errno == 0, "the handler left errno");
  some_more_rounds();
  char here[4096];
  probe::expect(::getcwd(here, sizeof here) != nullptr && ::chdir("/") == 0,
                "chdir");  // the files go where it began
  ::raise(SIGUSR2);
  probe::expect(::chdir(here) == 0, "chdir");
  const written w = read_file(".heap");
  probe::say("drawn: %.0f KB", w.drawn_bytes_of(sites[0]) / 1000);
  probe::expect(w.drawn_bytes_of(sites[0]) > 3e6, "a thread that only goes the fast paths was not seen");
  read_file(".waste");
  some_more_rounds();
  const double before = write_now(POLDER_PROFILE_BLOCKS, false).drawn_bytes_of(sites[0]);
  some_more_rounds();
  probe::expect(write_now(POLDER_PROFILE_BLOCKS, false).drawn_bytes_of(sites[0]) == before, "it is still on");
  enough = true;
  ::pthread_join(other, nullptr);
}
