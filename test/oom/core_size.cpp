// Requirement 6: the reservation stays out of core dumps: a core is at most 1.2 times what is resident, and 2 MB.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cstdlib>

#include "../probe/again.hpp"
#include "../probe/opaque.hpp"
#include "../probe/resident.hpp"
#include "../probe/stamp.hpp"

using namespace polder;

int main() {
  ::alarm(100);
  if (::access("/usr/bin/gcore", X_OK) != 0) probe::skip("gdb's gcore is not installed");
  static void* block[20000];
  for (auto& p : block) p = probe::opaque(std::malloc(2000)), std::memset(p, 1, 2000);
  long resident = probe::resident_kib();

  char prefix[64], name[96], self[16];
  std::snprintf(prefix, sizeof prefix, "/tmp/polder-core-%d", int(::getpid()));
  std::snprintf(self, sizeof self, "%d", int(::getpid()));
  std::snprintf(name, sizeof name, "%s.%s", prefix, self);
  pid_t dumper = ::fork();
  if (dumper == 0) {
    ::unsetenv("LD_PRELOAD");
    // A heap that fails here would fill the disk with its reservation.
    rlimit most{rlim_t(resident) * 4096, rlim_t(resident) * 4096};
    ::setrlimit(RLIMIT_FSIZE, &most);
    ::alarm(60);
    int null = ::open("/dev/null", O_RDWR);
    for (int fd = 0; fd <= 2; fd++) ::dup2(null, fd);
    ::execl("/usr/bin/gcore", "gcore", "-o", prefix, self, nullptr);
    ::_exit(127);
  }
  int status = 0;
  while (::waitpid(dumper, &status, 0) < 0 && errno == EINTR) {
  }
  struct stat core {};
  bool made = ::stat(name, &core) == 0;
  ::unlink(name);
  bool cut = WIFSIGNALED(status) || (made && core.st_size >= off_t(resident) * 4096);
  probe::expect(!cut,
                "req 6: the core is larger than 4 times what is resident (%ld KiB), or took a minute to write",
                resident);
  if (!made) probe::skip("gcore may not attach here");
  long kib = long(core.st_size / 1024), stored = long(core.st_blocks / 2);
  probe::say("resident %ld KiB, core %ld KiB (%ld KiB stored)", resident, kib, stored);
  probe::expect(kib <= resident + resident / 5 + 2048, "req 6: the core has %ld KiB, %ld KiB are resident", kib,
                resident);
  probe::expect(kib >= 20000 / 1024 * 2000, "req 6: the core has %ld KiB: the live blocks are not in it", kib);
  for (auto p : block) std::free(p);
}
