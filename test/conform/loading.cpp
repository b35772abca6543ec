// Stages of a process: before the heap's own constructor, plugins that come and go, exit with threads about.
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include "../fork/child_work.hpp"
#include "../preload/stages.hpp"
#include "../probe/again.hpp"
#include "probe.hpp"

extern "C" int polder_probe_early();

namespace polder::conform {
namespace {

fork_test::exchange shared;

// Runs a stage in a program of its own and ends as it did.
void pass_stage(const char* name, const char* setting = nullptr) {
  const char* args[] = {"stage", name, nullptr};
  const char* settings[] = {setting, nullptr};
  const auto told = probe::run_again(args, settings, 20);
  if (told.timed_out) probe::end(probe::verdict::hung, "%s: no end in 20 s", name);
  if (told.signal() != 0)
    probe::end(probe::verdict::crashed, "%s: %s %s", name, ::strsignal(told.signal()), told.err);
  if (!told.passed()) probe::end(probe::verdict(WEXITSTATUS(told.status)), "%s: %s", name, told.err);
}

void constructor() { pass_stage("early", "POLDER_PROBE_EARLY=blocks"); }
void exit_handlers() { pass_stage("exit-handlers"); }
void exit_among_threads() {
  for (int i = 0; i < 10; i++)
    pass_stage("exit-among-threads", "POLDER_PROBE_EARLY=linger"), pass_stage("quick-exit-among-threads");
}

std::atomic<int> handlers_run;
int register_and_exit() {
  // The first that is registered runs last, when all others have.
  std::atexit([] { ::_exit(handlers_run == 100 ? 0 : 1); });
  for (int i = 0; i < 100; i++)
    std::atexit([] {
      preload::use_heap("atexit");
      static void* block;
      std::free(std::exchange(block, std::malloc(5000)));
      handlers_run++;
    });
  for (int i = 0; i < 500; i++) std::free(probe::opaque(std::malloc(100)));
  return 0;
}

[[noreturn]] void end_among_threads(void (*how)(int)) {
  for (int i = 0; i < 4; i++)
    std::thread([] {
      for (;;) preload::use_heap("a thread during exit");
    }).detach();
  ::usleep(20'000);
  how(0);
  ::_exit(1);
}

// A block made in a plugin outlives it; so does a thread that worked in it.
void plugins() {
  fork_test::churners<2> churning(shared);
  for (const char* path : {POLDER_PROBE_PLUGIN, POLDER_PROBE_PLUGIN_WITH_THREAD_LOCAL})
    for (int i = 0; i < 60; i++) {
      void* plugin = ::dlopen(path, RTLD_NOW);
      if (plugin == nullptr) probe::end(probe::verdict::crashed, "%s", ::dlerror());
      auto* work = reinterpret_cast<int (*)(int)>(::dlsym(plugin, "plugin_work"));
      auto* make = reinterpret_cast<void* (*)(std::size_t)>(::dlsym(plugin, "plugin_malloc"));
      void* kept = nullptr;
      std::atomic<bool> worked{false}, closed{false};
      std::thread worker([&] {
        work(50);
        worked = true;
        while (!closed) std::this_thread::yield();
        preload::use_heap("a thread after dlclose");
      });
      while (!worked) std::this_thread::yield();
      work(20);
      if (make != nullptr) {
        kept = make(3000);
        probe::expect(kept != nullptr, "malloc in the plugin is NULL");
        probe::stamp(kept, 3000, 5);
      }
      ::dlclose(plugin);
      closed = true;
      worker.join();
      if (kept != nullptr) fork_test::unmade(kept);
      fork_test::unmade(fork_test::made(5000, 1));
    }
}

const demand probes[] = {
    {"library-constructor", "loading",
     "a library's constructor uses the heap before the heap's own has run, its destructor after",
     "System V ABI, initialization order; dlopen(3)", "no heap before its constructor", 60, constructor},
    {"exit-handlers", "loading", "100 atexit handlers use the heap", "C17 7.22.4.4", "exit ends the heap", 60,
     exit_handlers},
    {"exit-among-threads", "loading", "exit and quick_exit while four threads go on allocating",
     "POSIX.1-2017 exit: threads run until _exit", "its destructor ends the heap", 120, exit_among_threads},
    {"plugins", "loading", "plugins come and go 120 times; their blocks and threads outlive them",
     "POSIX.1-2017 dlclose", "dlclose ends the heap", 60, plugins},
};

}  // namespace

std::span<const demand> loading_probes() { return probes; }

int loading_stage(const char* name) {
  const auto is = [name](const char* stage) { return std::strcmp(name, stage) == 0; };
  if (is("early")) return polder_probe_early() ? 0 : 1;
  if (is("exit-handlers")) return register_and_exit();
  if (is("exit-among-threads")) end_among_threads(std::exit);
  if (is("quick-exit-among-threads")) end_among_threads(std::quick_exit);
  return 2;
}

}  // namespace polder::conform
