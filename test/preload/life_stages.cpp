// Any life stage (requirement 4): the heap serves constructors, destructors of thread locals five deep, destructors of thread-specific data in every round, atexit, quick_exit, threads that outlive main.
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "stages.hpp"
#include "subject.hpp"

namespace {

namespace subject = conformance::subject;
using preload::deepest, preload::link_of_chain, preload::use_heap;

void* from_constructor;
[[gnu::constructor(101)]] void first_constructor() {
  use_heap("the first constructor");
  from_constructor = ::malloc(77);
}
[[gnu::destructor(101)]] void last_destructor() {
  use_heap("the last destructor");
  ::free(from_constructor);
}
struct static_object {
  std::string text = std::string(5000, 's');
  ~static_object() { use_heap("the destructor of a static object"); }
} at_namespace_scope;

// Thread-specific data whose destructors set it again, in every round POSIX grants, with keys made at different times.
constexpr int key_count = 40;
pthread_key_t keys[key_count];
std::atomic<int> rounds_seen{0};
struct cell {
  int key, round;
  void* block;
};
void in_destructor(void* p) {
  auto* c = static_cast<cell*>(p);
  use_heap("a destructor of thread-specific data");
  ::free(c->block);
  if (rounds_seen < c->round) rounds_seen = c->round;
  if (c->round < 4)
    ::pthread_setspecific(keys[c->key],
                          new cell{c->key, c->round + 1, ::malloc(static_cast<std::size_t>(c->round) * 700)});
  delete c;
}
[[gnu::constructor(102)]] void make_early_keys() {
  for (int i = 0; i < key_count / 2; ++i) ::pthread_key_create(&keys[i], in_destructor);
}
void set_all_keys() {
  for (int i = 0; i < key_count; ++i) ::pthread_setspecific(keys[i], new cell{i, 1, ::malloc(100)});
}

void one_thread() {
  link_of_chain<1>().touch();
  set_all_keys();
  use_heap("a thread");
}

// Returns the bytes by which the process grew between the two marks; each thread dies through all destructors.
std::size_t growth_over_threads(int first, int second, void (*body)()) {
  std::size_t at_first = 0;
  for (int i = 0; i < second; ++i) {
    if (i == first) at_first = preload::resident();
    if (i > first && preload::resident() > at_first + (std::size_t{256} << 20)) break;  // bad enough
    std::thread(body).join();
  }
  const std::size_t now = preload::resident();
  return now > at_first ? now - at_first : 0;
}
void only_allocates_at_its_end() {
  ::pthread_setspecific(keys[0], new cell{0, 1, nullptr});
  ::pthread_setspecific(keys[key_count - 1], new cell{key_count - 1, 1, nullptr});
}

[[noreturn]] void* outlives_main(void*) {
  for (int i = 0;; ++i) {
    use_heap("a thread that outlives main");
    if (i == 50) ::exit(0);
  }
}
void churn() {
  for (;;) use_heap("a thread during exit");
}

int scenario(const std::string& name) {
  if (name == "stages") {
    for (int i = 0; i < 50; ++i) std::thread(one_thread).join();
    std::printf("destructors %d deep, %d rounds\n", deepest.load(), rounds_seen.load());
    return deepest == 5 && rounds_seen == 4 ? 0 : 1;
  }
  if (name == "flat") {
    const std::size_t grown = growth_over_threads(200, 1200, one_thread);
    const std::size_t grown_late = growth_over_threads(200, 1200, only_allocates_at_its_end);
    std::printf("1000 threads: %zu KiB more; threads that allocate only while they end: %zu KiB more\n",
                grown >> 10, grown_late >> 10);
    return grown <= 16 << 20 && grown_late <= 16 << 20 ? 0 : 1;
  }
  if (name == "atexit") {
    for (int i = 0; i < 100; ++i) ::atexit([] { use_heap("atexit"); });
    link_of_chain<1>().touch();
    set_all_keys();
    return 0;
  }
  if (name == "quick_exit") {
    for (int i = 0; i < 40; ++i) ::at_quick_exit([] { use_heap("at_quick_exit"); });
    ::quick_exit(0);
  }
  if (name == "exit in a thread") {
    std::thread([] {
      one_thread();
      ::exit(0);
    }).join();
    return 1;
  }
  if (name == "exit while threads run") {
    for (int i = 0; i < 4; ++i) std::thread(churn).detach();
    for (int i = 0; i < 20; ++i) use_heap("main beside threads");
    ::exit(0);
  }
  if (name == "main ends before its threads") {
    pthread_t other;
    if (::pthread_create(&other, nullptr, outlives_main, nullptr) != 0) return 1;
    one_thread();
    ::pthread_exit(nullptr);
  }
  if (name == "a thread is cancelled") {
    for (int i = 0; i < 100; ++i) {
      pthread_t other;
      auto body = [](void*) -> void* {
        link_of_chain<1>().touch();
        set_all_keys();
        for (;;) {
          use_heap("a thread that is cancelled");
          ::pthread_testcancel();
        }
      };
      if (::pthread_create(&other, nullptr, body, nullptr) != 0) return 1;
      ::pthread_cancel(other);
      ::pthread_join(other, nullptr);
    }
    return 0;
  }
  if (name == "all keys are taken") {
    // No key is left for the heap if it has not taken its own; it must serve threads all the same.
    pthread_key_t key;
    while (::pthread_key_create(&key, nullptr) == 0) {
    }
    for (int i = 0; i < 200; ++i) std::thread(one_thread).join();
    return 0;
  }
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = key_count / 2; i < key_count; ++i) ::pthread_key_create(&keys[i], in_destructor);
  if (argc == 2) return scenario(argv[1]);
  preload::tally tally(4);
  for (const char* name : {"stages", "flat", "atexit", "quick_exit", "exit in a thread", "exit while threads run",
                           "main ends before its threads", "a thread is cancelled", "all keys are taken"}) {
    const auto r = preload::run_child({preload::self_path(), name}, preload::environment({}), 60);
    tally.check(r.exited(0) && r.err.empty(), name, r);
    std::printf("%s%s", r.out.c_str(), r.err.c_str());
  }
  return tally.result();
}
