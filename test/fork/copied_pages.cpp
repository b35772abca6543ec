// Requirement 1: what fork itself and modest work cost the child in copied pages: at most 1 MB beside what it touches.
#include <cstdlib>

#include "../probe/resident.hpp"
#include "child_work.hpp"

using namespace polder;

static constexpr int blocks = 60000;
static void* live[blocks];

int main() {
  ::alarm(60);
  probe::random r(5);
  for (int i = 0; i < blocks; i++) live[i] = fork_test::made(probe::any_size(r), std::uint32_t(i));
  for (int i = 0; i < blocks; i += 3) {
    fork_test::unmade(live[i]);
    live[i] = nullptr;
  }
  long parent = probe::resident_kib();
  pid_t child = ::fork();
  if (child == 0) {
    ::alarm(30);
    long at_fork = probe::rollup_kib("Private_Dirty:");
    probe::expect(at_fork <= 1024, "req 1: the child owns %ld KiB of copies right after fork (parent: %ld KiB)",
                  at_fork, parent);
    long resident = probe::resident_kib();
    for (auto size : probe::small_sizes) fork_test::unmade(fork_test::made(size, 1));
    // Freeing writes a link into the block: one copied page each, and a few of the heap's own.
    for (int i = 1; i < 300; i += 3) fork_test::unmade(live[i]);
    long copied = probe::rollup_kib("Private_Dirty:");
    long grown = probe::resident_kib() - resident;
    probe::expect(copied <= at_fork + 1024 + 400, "req 1: the child copied %ld KiB for 172 small operations",
                  copied);
    probe::expect(grown <= 1024, "req 1: the child grew by %ld KiB", grown);
    probe::say("parent %ld KiB, child's copies: at fork %ld KiB, after its work %ld KiB; grown by %ld KiB", parent,
               at_fork, copied, grown);
    ::_exit(0);
  }
  fork_test::wait_for(child, "req 1: child");
}
