#include <polder/malloc/fault_report.hpp>
#include <polder/malloc/instance.hpp>
#include <polder/os/ended_thread.hpp>
#include <polder/os/errno_keeper.hpp>
#include <polder/os/system_call.hpp>
#include <polder/os/thread_name.hpp>

#include <csignal>
#include <cstdlib>

namespace polder::face {
namespace {

struct sigaction before;

// A heap that guards no blocks has nothing to say.
template <class Heap>
bool explained_by(const Heap& h, const void* p) {
  if constexpr (requires { h.explain_fault(p); }) return h.explain_fault(p);
  else return false;
}

void on_fault(int, siginfo_t* info, void*) {
  const os::errno_keeper keep;
  const bool was_sent = info->si_code <= 0;  // by kill or raise
  if (!was_sent && explained_by(instance, info->si_addr)) std::abort();
  sigaction(SIGSEGV, &before, nullptr);  // the instruction is done again, and the fault is theirs
  // Unless there is none.
  if (was_sent) os::system_call(SYS_tgkill, os::own_process_number(), os::own_thread_number(), SIGSEGV);
}

}  // namespace

void explain_faults() noexcept {
  const os::errno_keeper keep;
  struct sigaction ours = {};
  ours.sa_sigaction = on_fault;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &ours, &before);
}

}  // namespace polder::face
