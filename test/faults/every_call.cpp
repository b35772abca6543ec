// Requirements 7 and 17: each kind of system call the heap makes is refused: the nth time, for every n it comes to, and
// always. Nothing may crash; a request that cannot be met is NULL with ENOMEM; afterwards nothing is lost.
//   every_call interposed   through libc's functions
//   every_call notified     at the kernel's door: also what goes past libc
// A second argument, `small-arena`, runs it with 16 MB reserved, so that the heap has to map more as it goes.
#include <unistd.h>

#include "../probe/again.hpp"
#include "../probe/resident.hpp"
#include "notifier.hpp"
#include "plan.hpp"
#include "scenario.hpp"

using namespace polder;
using namespace polder::faults;

static constexpr int errors[] = {ENOMEM, EINVAL, EPERM, ENOSYS, EAGAIN};

struct footprint {
  long resident, mapped, maps;
};

static footprint settled() {
  probe::expect(scenario::run(1) == 0, "req 7: requests are refused with nothing injected");
  return {probe::resident_kib(), probe::mapped_kib(), probe::map_count()};
}

static void nothing_lost(const footprint& before, const char* what, const char* name) {
  disarm();
  footprint after = settled();
  probe::expect(after.resident <= before.resident + 4096, "req 7: %s %s: resident %ld KiB, was %ld KiB", name, what,
                after.resident, before.resident);
  probe::expect(after.mapped <= before.mapped + (16 << 10), "req 7: %s %s: address space %ld KiB, was %ld KiB",
                name, what, after.mapped, before.mapped);
  probe::expect(after.maps <= before.maps + 64, "req 7: %s %s: %ld mappings, were %ld", name, what, after.maps,
                before.maps);
}

int main(int argc, char** argv) {
  bool notified = argc > 1 && std::strcmp(argv[1], "notified") == 0;
  if (argc > 2 && !std::getenv("POLDER_OPTIONS")) {
    ::setenv("POLDER_OPTIONS", "arena_size=16M", 1);
    ::execv("/proc/self/exe", argv);
    probe::fail("execv: %s", std::strerror(errno));
  }
  ::alarm(800);
  if (notified && !notifier::watch()) probe::skip("no seccomp user notification here");
  for (std::uint32_t i = 0; i < 5; i++) scenario::run(i + 1);
  footprint before = settled();

  long comes_to[calls];
  count_anew();
  scenario::run(1);
  for (int c = 0; c < calls; c++) comes_to[c] = rules[c].seen.load();
  bool any = false;
  for (long n : comes_to) any |= n > 0;
  if (!any) probe::fail("req 7: the heap makes no call that this injector sees: it proves nothing");

  for (int c = 0; c < calls; c++) {
    long refusals = 0, refused_requests = 0, tried = 0;
    // Every n while there are few; otherwise the first 20 and an even choice of the rest.
    long step = comes_to[c] > 60 ? comes_to[c] / 40 : 1;
    for (long n = 1; n <= comes_to[c]; n += n < 20 ? 1 : step) {
      arm(call(c), errors[n % 5], n, n);
      refused_requests += scenario::run(1);
      refusals += rules[c].refused.load();
      tried++;
    }
    nothing_lost(before, "refused once at a time", call_name[c]);
    for (int error : errors) {
      arm(call(c), error, 1);
      refused_requests += scenario::run(2);
      scenario::run(3);
      refusals += rules[c].refused.load();
      nothing_lost(before, "always refused", call_name[c]);
    }
    // And in bursts: every call of this kind between the tenth and the twentieth.
    arm(call(c), ENOMEM, 10, 20);
    scenario::run(4);
    nothing_lost(before, "refused in a burst", call_name[c]);
    probe::say("%-10s comes %4ld times; %3ld places tried, %5ld calls refused, %6ld requests failed", call_name[c],
               comes_to[c], tried, refusals, refused_requests);
  }
  // All of them together.
  for (int c = 0; c < calls; c++) arm(call(c), ENOMEM, 1);
  scenario::run(5);
  nothing_lost(before, "all refused", "everything");
}
