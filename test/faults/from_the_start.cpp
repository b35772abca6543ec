// Requirements 3 and 17: calls refused from the heap's first breath, before main. It starts another way, or, where it
// cannot start at all, malloc is NULL with ENOMEM; when the refusals end it works.
#include <linux/membarrier.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "../probe/again.hpp"
#include "plan.hpp"
#include "refuse.hpp"
#include "scenario.hpp"

using namespace polder;
using namespace polder::faults;

// Prints how often each call came before main, so that the driver knows what to refuse.
static int count_before_main() {
  errno = 0;
  void* p = probe::opaque(std::malloc(100));
  probe::expect(p != nullptr, "malloc is NULL");
  std::free(p);
  char text[256];
  int n = 0;
  for (auto& r : rules) n += std::snprintf(text + n, sizeof text - std::size_t(n), "%ld ", r.seen.load());
  [[maybe_unused]] auto written = ::write(1, text, std::size_t(n));
  return 0;
}

static int live_with_it() {
  bool starts = true;
  for (int i = 0; i < 3; i++) {
    errno = 0;
    void* p = probe::opaque(std::malloc(100));
    if (!p) {
      starts = false;
      probe::expect(errno == ENOMEM, "req 3: malloc is NULL with errno %d (%s)", errno, std::strerror(errno));
    }
    std::free(p);
  }
  void* none = probe::opaque(std::realloc(nullptr, 200));
  std::free(none);
  if (starts) scenario::run(1);
  disarm();
  probe::expect(scenario::run(2) == 0, "req 7: requests fail after the refusals have ended");
  return 0;
}

int main(int argc, char** argv) {
  ::alarm(150);
  if (argc > 1) return std::strcmp(argv[1], "count") == 0 ? count_before_main() : live_with_it();

  const char* count[] = {"count", nullptr};
  const char* plain[] = {nullptr};
  auto counted = probe::run_again(count, plain, 20);
  probe::expect(counted.passed(), "the program does not run at all: %s", counted.err);
  long before_main[calls];
  char* at = counted.out;
  long all = 0;
  for (long& n : before_main) all += n = std::strtol(at, &at, 10);
  probe::expect(all > 0, "req 7: the heap starts without any call that this injector sees: it proves nothing");

  const char* live[] = {"live", nullptr};
  int failures = 0, cases = 0;
  auto attempt_after = [&](auto prepare, const char* faults) {
    const char* settings[] = {faults, nullptr};
    auto result = probe::run_again(live, settings, 20, prepare);
    cases++;
    if (result.passed()) return;
    char how[128];
    result.describe(how, sizeof how);
    probe::say("req 3, 7, 17: %s: %s: %s", faults, how, result.err);
    failures++;
  };
  auto attempt = [&](const char* faults) { attempt_after([] {}, faults); };
  char text[128];
  const int errors[] = {ENOMEM, EINVAL, EPERM, ENOSYS};
  for (int c = 0; c < calls; c++) {
    if (call(c) == call::barrier) continue;  // it goes past libc: below
    for (int error : errors) {
      for (long n = 1; n <= before_main[c] && n <= 8; n++) {
        std::snprintf(text, sizeof text, "POLDER_FAULTS=%d:%ld:%ld:%d", c, n, n, error);
        attempt(text);
      }
      std::snprintf(text, sizeof text, "POLDER_FAULTS=%d:1:1000000000000:%d", c, error);
      attempt(text);
    }
    // The first ones only: it comes up later than it wanted to.
    std::snprintf(text, sizeof text, "POLDER_FAULTS=%d:1:3:%d", c, ENOMEM);
    attempt(text);
  }
  // By the kernel, from the exec on: all of it, or that the process registers for it, which is the first.
  const bool filters = ::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0;
  if (!filters) probe::say("no seccomp here: membarrier is not refused");
  for (int error : errors) {
    if (!filters) break;
    std::snprintf(text, sizeof text, "POLDER_REFUSED=membarrier, errno %d", error);
    attempt_after([error] { refuse(SYS_membarrier, error); }, text);
    std::snprintf(text, sizeof text, "POLDER_REFUSED=membarrier's registration, errno %d", error);
    attempt_after([error] { refuse(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, error); }, text);
  }
  std::snprintf(text, sizeof text, "POLDER_FAULTS=0:1:1000000000000:%d,2:1:1000000:%d", ENOMEM, ENOMEM);
  attempt(text);
  probe::say("%d of %d starts failed (calls before main:%s)", failures, cases, counted.out);
  return failures ? 1 : 0;
}
