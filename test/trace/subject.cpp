// A program whose calls of malloc are known: what is recorded of it can be compared with what it did.
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>

namespace {

constexpr std::size_t begin_mark = 123457;
constexpr std::size_t end_mark = 123459;
thread_local void* volatile kept;  // nothing is optimised away; a thread its own, or one frees what another keeps there

void mark(std::size_t size) {
  kept = malloc(size);
  free(kept);
}

// Each call of the family, between two marks; record.cpp has the same list.
void calls() {
  mark(begin_mark);
  void* a = malloc(10);
  void* b = calloc(3, 20);
  a = realloc(a, 100'000);
  void* c = nullptr;
  if (posix_memalign(&c, 64, 200) != 0) abort();
  void* d = aligned_alloc(128, 256);
  void* e = memalign(4096, 300);
  free(nullptr);
  void* f = realloc(nullptr, 77);
  (void)malloc_usable_size(b);
  kept = realloc(f, 0);
  b = reallocarray(b, 5, 8);
  kept = malloc(SIZE_MAX / 4);
  for (void* block : {a, b, c, d, e}) free(block);
  kept = ::operator new(500);
  ::operator delete(kept);
  kept = ::operator new(96, std::align_val_t{32}, std::nothrow);
  ::operator delete(kept, std::align_val_t{32});
  mark(end_mark);
}

// Under handing_heap.cpp: a thread waits in malloc for the block that another one is just giving back, so that the second
// life of the block begins before the call that ended the first has returned.
void hands_over() {
  for (const bool by_realloc : {false, true}) {
    void* block = malloc(7777);
    pthread_t t;
    pthread_create(
        &t, nullptr, [](void*) -> void* { return free(malloc(7777)), nullptr; }, nullptr);
    usleep(20'000);
    if (by_realloc) free(realloc(block, 9999));
    else free(block);
    pthread_join(t, nullptr);
  }
}

constexpr unsigned slots = 64;
constexpr unsigned exchanges = 20'000;
std::atomic<void*> shared[slots];

// Blocks change hands through a few slots, so that frees are remote and addresses are soon given out again.
void* exchange(void* number) {
  std::uint64_t state = reinterpret_cast<std::uintptr_t>(number) * 0x9e3779b97f4a7c15u + 1;
  for (unsigned n = 0; n < exchanges; ++n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    void* block = malloc(16 + (state >> 60));
    if (n % 8 == 0) block = realloc(block, 64 + (state >> 58));
    free(shared[(state >> 40) % slots].exchange(block));
  }
  return nullptr;
}

void threads() {
  pthread_t all[4];
  for (std::uintptr_t n = 0; n < 4; ++n) pthread_create(&all[n], nullptr, exchange, reinterpret_cast<void*>(n));
  for (pthread_t t : all) pthread_join(t, nullptr);
  for (auto& slot : shared) free(slot.load());
}

void some(std::size_t size, unsigned count) {
  for (unsigned n = 0; n < count; ++n) {
    kept = malloc(size);
    free(kept);
  }
}

void churn() {
  for (unsigned n = 0; n < 1000; ++n) {
    pthread_t t;
    pthread_create(
        &t, nullptr, [](void*) -> void* { return some(4321, 3), nullptr; }, nullptr);
    pthread_join(t, nullptr);
  }
}

// By a thread, for faults that strike there.
void callocs(std::size_t size) {
  pthread_t t;
  const auto some_of_them = [](void* size) -> void* {
    for (unsigned n = 0; n < 300; ++n) {
      kept = calloc(1, *static_cast<std::size_t*>(size));
      free(kept);
    }
    return nullptr;
  };
  pthread_create(&t, nullptr, some_of_them, &size);
  pthread_join(t, nullptr);
}

void forks() {
  some(1111, 10);
  const pid_t child = fork();
  if (child == 0) {
    some(2222, 20);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  some(3333, 30);
}

// A child of a process whose other threads are in the middle of malloc.
void forks_among_threads() {
  static std::atomic<bool> stop{false};
  pthread_t t;
  pthread_create(
      &t, nullptr,
      [](void*) -> void* {
        while (!stop) some(5555, 1);
        return nullptr;
      },
      nullptr);
  for (unsigned n = 0; n < 20; ++n) forks();
  stop = true;
  pthread_join(t, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "calls") calls();
  else if (what == "threads") threads();
  else if (what == "churn") churn();
  else if (what == "hands_over") hands_over();
  else if (what == "callocs") callocs(4000);
  else if (what == "large_callocs") callocs(256 << 10);
  else if (what == "forks") forks();
  else if (what == "forks_among_threads") forks_among_threads();
  else if (what == "some") some(4321, 100);
  else if (what == "little_often") some(1 << 20, 100'000);
  else if (what == "gives_up_its_rights") {
    if (setgid(65534) != 0 || setuid(65534) != 0) return 77;
    some(4321, 20'000);
  } else if (what == "closes_everything") {
    for (int file = 3; file < 2000; ++file) close(file);
    some(4321, 20'000);
  } else if (what == "killed") some(4321, 5000), kill(getpid(), SIGKILL);
  else if (what == "execs") {
    some(1111, 10);
    execl(argv[0], argv[0], "some", nullptr);
  } else return 2;
  return 0;
}
