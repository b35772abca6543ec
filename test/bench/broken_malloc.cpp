// A malloc with one fault, named by POLDER_BENCH_FAULT: preloaded under polder-bench, to prove that the workloads' own
// checks can fail. It never reuses memory, so that the fault is the only thing that is wrong. The fault strikes in the
// workers only, at every 50th call of a thread, after its first few; `orphan` is `null` in children after fork instead, `atfork`
// a crash in the fork itself, `late` the alarm that a child sets, come early; `exit` a crash when the process ends.
// Three make no mistake: `shared` gives a thread what it freed last, whoever had it, so that cache lines are shared; a guard costs
// a `dear` heap a megabyte, a thread's first call a `slow` one two milliseconds.
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>

namespace {

enum class fault {
  none,
  null,
  misaligned,
  oldest,
  twice,
  short_block,
  scribble,
  dirty,
  lossy,
  orphan,
  shared,
  atfork,
  late,
  dear,
  slow,
  exit
};

constexpr std::size_t header = 16;  // the block's size, before it
constexpr std::size_t guard_size = 1000;
constexpr std::size_t dear_size = 1 << 20;

struct thread_state {
  unsigned calls;
  unsigned frees;
  void* guard;  // the oldest block that lives for long: the harness's guard
  void* newest;
  std::size_t newest_size;
  void* freed;  // the last one first; each holds the next
};
thread_local thread_state mine [[gnu::tls_model("initial-exec")]];

std::atomic<char*> top{nullptr};

fault chosen() {
  static std::atomic<int> known{-1};
  int f = known.load(std::memory_order_relaxed);
  if (f >= 0) return static_cast<fault>(f);
  constexpr const char* names[] = {"none",  "null",   "misaligned", "oldest", "twice", "short", "scribble", "dirty",
                                   "lossy", "orphan", "shared",     "atfork", "late",  "dear",  "slow",     "exit"};
  f = 0;
  for (char** e = environ; e != nullptr && *e != nullptr; ++e) {
    if (std::strncmp(*e, "POLDER_BENCH_FAULT=", 19) != 0) continue;
    for (int i = 0; i < static_cast<int>(std::size(names)); ++i) {
      if (std::strcmp(*e + 19, names[i]) == 0) f = i;
    }
  }
  known.store(f, std::memory_order_relaxed);
  return static_cast<fault>(f);
}

char* take(std::size_t bytes) {
  char* at = top.load(std::memory_order_acquire);  // sync: arena
  if (at == nullptr) {
    void* arena = mmap(nullptr, std::size_t{1} << 38, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (arena == MAP_FAILED) _exit(99);
    if (top.compare_exchange_strong(at, static_cast<char*>(arena), std::memory_order_acq_rel))
      at = nullptr;  // sync: arena
  }
  return top.fetch_add(static_cast<std::ptrdiff_t>(bytes), std::memory_order_acq_rel);  // sync: arena
}

bool strikes() { return gettid() != getpid() && mine.calls > 10 && mine.calls % 50 == 0; }

bool is_orphan() {
  static std::atomic<pid_t> parent{0};
  pid_t none = 0;
  parent.compare_exchange_strong(none, getpid(), std::memory_order_relaxed);
  return parent.load(std::memory_order_relaxed) != getpid();
}

std::size_t size_of(void* block) {
  std::size_t size = 0;
  std::memcpy(&size, static_cast<char*>(block) - header, sizeof size);
  return size;
}

[[gnu::constructor]] void enter() {
  pthread_atfork(nullptr, nullptr, [] {
    if (chosen() == fault::atfork) std::abort();
  });
}

[[gnu::destructor]] void leave() {
  if (chosen() == fault::exit) std::abort();
}

void* allocate(std::size_t size, std::size_t alignment = 16) {
  ++mine.calls;
  const fault f = chosen();
  if (f == fault::slow && mine.calls == 1) usleep(2000);
  const bool now = strikes();
  if ((now && f == fault::null) || (f == fault::orphan && is_orphan() && mine.calls % 50 == 0)) {
    errno = ENOMEM;
    return nullptr;
  }
  if (f == fault::late && is_orphan() && mine.calls % 50 == 0) raise(SIGALRM);
  if (now && f == fault::oldest && mine.guard != nullptr) return mine.guard;
  if (now && f == fault::twice && mine.newest != nullptr && mine.newest_size >= size && size != 0)
    return mine.newest;
  if (f == fault::shared && mine.freed != nullptr && size_of(mine.freed) == size && alignment <= 16) {
    void* again = mine.freed;
    std::memcpy(&mine.freed, again, sizeof mine.freed);
    return again;
  }
  if (f == fault::dear && size == guard_size) {
    void* guard =
        mmap(nullptr, dear_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (guard == MAP_FAILED) _exit(99);
    std::memcpy(guard, &size, sizeof size);
    return static_cast<char*>(guard) + header;
  }
  const std::size_t rounded = (size + 15) / 16 * 16;
  const std::size_t lost = f == fault::short_block && gettid() != getpid() && mine.calls > 10 ? 32 : 0;
  char* memory = take(rounded + header - lost + (alignment > 16 ? alignment : 0));
  char* block = memory + header;
  if (alignment > 16) {
    block += alignment - 1;
    block -= reinterpret_cast<std::uintptr_t>(block) % alignment;
  }
  std::memcpy(block - header, &size, sizeof size);
  if (now && f == fault::misaligned) block += 4;
  if (mine.guard == nullptr && size == guard_size) mine.guard = block;
  mine.newest = block;
  mine.newest_size = size;
  return block;
}

}  // namespace

extern "C" {

void* malloc(std::size_t size) { return allocate(size); }

void free(void* block) {
  if (block == nullptr) return;
  if (chosen() == fault::dear && size_of(block) == guard_size) {
    munmap(static_cast<char*>(block) - header, dear_size);
    return;
  }
  if (chosen() == fault::shared && size_of(block) >= sizeof mine.freed) {
    std::memcpy(block, &mine.freed, sizeof mine.freed);
    mine.freed = block;
    return;
  }
  if (block == mine.newest) {
    mine.newest = mine.guard;
    mine.newest_size = 0;
  }
  if (chosen() == fault::scribble && gettid() != getpid() && ++mine.frees % 7 == 0 && mine.newest != nullptr) {
    std::memset(mine.newest, 0x5a, mine.newest_size == 0 ? 8 : std::min<std::size_t>(mine.newest_size, 4));
  }
}

void* calloc(std::size_t n, std::size_t size) {
  void* block = allocate(n * size);
  if (block != nullptr && n * size != 0 && strikes()) {
    if (chosen() == fault::dirty) static_cast<char*>(block)[n * size / 2] = 1;
  }
  return block;
}

void* realloc(void* block, std::size_t size) {
  void* moved = allocate(size);
  if (moved == nullptr || block == nullptr) return moved;
  std::size_t kept = size_of(block) < size ? size_of(block) : size;
  if (strikes() && chosen() == fault::lossy) kept = kept > 8 ? 2 : 0;
  std::memmove(moved, block, kept);
  return moved;
}

void* aligned_alloc(std::size_t alignment, std::size_t size) { return allocate(size, alignment); }
void* memalign(std::size_t alignment, std::size_t size) { return allocate(size, alignment); }
int posix_memalign(void** result, std::size_t alignment, std::size_t size) {
  *result = allocate(size, alignment);
  return *result == nullptr ? ENOMEM : 0;
}
}
