// The library as a guest (requirements 4 and 5): not preloaded but opened by a program, by python3's ctypes, a thousand
// times, with threads that end after it is closed, and given blocks that libc made.
//   late_loading            in a program on libc's malloc
//   late_loading beside     a second copy of it, in a program that runs on the first
#include <dlfcn.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "subject.hpp"

namespace {

struct guest {
  void* handle;
  void* (*malloc)(std::size_t);
  void* (*calloc)(std::size_t, std::size_t);
  void* (*realloc)(void*, std::size_t);
  void (*free)(void*);
  std::size_t (*usable)(void*);

  guest(const char* path, int mode) : handle{::dlopen(path, mode)} {
    if (handle == nullptr) std::fprintf(stderr, "%s\n", ::dlerror()), ::_exit(3);
    malloc = reinterpret_cast<decltype(malloc)>(::dlsym(handle, "malloc"));
    calloc = reinterpret_cast<decltype(calloc)>(::dlsym(handle, "calloc"));
    realloc = reinterpret_cast<decltype(realloc)>(::dlsym(handle, "realloc"));
    free = reinterpret_cast<decltype(free)>(::dlsym(handle, "free"));
    usable = reinterpret_cast<decltype(usable)>(::dlsym(handle, "malloc_usable_size"));
    if (malloc == nullptr || malloc == &::malloc)
      std::fprintf(stderr, "the library's own malloc is not found\n"), ::_exit(3);
  }
};

bool use(const guest& g) {
  void* blocks[100];
  for (std::size_t i = 0; i < 100; ++i) {
    blocks[i] = i % 2 == 0 ? g.malloc(i * i * 7 + 1) : g.calloc(i, i * 7);
    if (blocks[i] == nullptr || g.usable(blocks[i]) < i * i * 7) return false;
    std::memset(blocks[i], 1, i * i * 7);
  }
  for (auto*& block : blocks) block = g.realloc(block, 4000);
  for (auto* block : blocks) g.free(block);
  return true;
}

int scenario(const std::string& what, const char* library) {
  if (what == "local" || what == "global") {
    const guest g(library, RTLD_NOW | (what == "local" ? RTLD_LOCAL : RTLD_GLOBAL));
    for (int i = 0; i < 20; ++i) {
      bool good = true;
      std::thread([&] { good = use(g); }).join();
      if (!good || !use(g)) return 1;
    }
    return 0;
  }
  if (what == "opened and closed 1000 times") {
    for (int i = 0; i < 1000; ++i) {
      const guest g(library, RTLD_NOW);
      std::atomic<bool> used{false}, closed{false};
      std::thread outlives([&] {
        use(g);
        used = true;
        while (!closed) std::this_thread::yield();
      });
      while (!used) std::this_thread::yield();
      ::dlclose(g.handle);
      closed = true;
      outlives.join();
    }
    const guest g(library, RTLD_NOW);
    std::size_t maps = 0;
    char line[512];
    std::FILE* file = std::fopen("/proc/self/maps", "r");
    while (file != nullptr && std::fgets(line, sizeof line, file) != nullptr) ++maps;
    if (file != nullptr) std::fclose(file);
    std::printf("%zu mappings\n", maps);
    return use(g) && maps < 200 ? 0 : 1;
  }
  // Blocks of libc's own: the library hands them on, or says what they are.
  const guest g(library, RTLD_NOW);
  for (std::size_t n : {std::size_t{24}, std::size_t{3000}, std::size_t{200'000}, std::size_t{3} << 20}) {
    void* p = ::malloc(n);
    std::memset(p, 5, n);
    if (what == "free of libc's block") g.free(p);
    if (what == "realloc of libc's block") {
      p = g.realloc(p, 2 * n);
      if (p == nullptr || static_cast<char*>(p)[n - 1] != 5) return 1;
    }
    if (what == "usable size of libc's block" && g.usable(p) != 0 && g.usable(p) < n) return 1;
  }
  return 0;
}

constexpr const char* python_program = R"(
import ctypes, sys, threading
lib = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL if sys.argv[2] == "global" else ctypes.RTLD_LOCAL)
lib.malloc.restype = ctypes.c_void_p
lib.malloc.argtypes = [ctypes.c_size_t]
lib.free.argtypes = [ctypes.c_void_p]
def work():
    for i in range(2000):
        p = lib.malloc(i * 37 + 1)
        ctypes.memset(p, 1, i * 37 + 1)
        lib.free(p)
work()
threads = [threading.Thread(target=work) for _ in range(8)]
for t in threads: t.start()
for t in threads: t.join()
import json, sqlite3, decimal
print(json.dumps({"sum": sum(range(1000))}))
)";

void check_lives(preload::tally& lives, const char* name, const std::string& library,
                 const std::vector<std::string>& environment) {
  for (const char* what : {"local", "global", "opened and closed 1000 times"}) {
    const auto r = preload::run_child({preload::self_path(), what, library}, environment, 120);
    lives.check(r.exited(0) && r.err.empty(), std::string(name) + ", " + what, r);
    std::printf("%s", r.out.c_str());
  }
}

// A file of its own, so that the dynamic linker does not take it for the library that is there already.
int beside() {
  char copy[] = "/tmp/polder-second-copy-XXXXXX";
  const int file = ::mkstemp(copy);
  if (file < 0) return std::fprintf(stderr, "no temporary file\n"), 1;
  ::close(file);
  preload::tally lives(4);
  const auto copied = preload::run_child({"cp", preload::subject_library(), copy}, preload::environment({}), 30);
  lives.check(copied.exited(0), "a copy of the library", copied);
  check_lives(lives, "a second copy", copy, preload::environment({}));
  ::unlink(copy);
  return lives.result();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3) return scenario(argv[1], argv[2]);
  if (argc == 2 && std::string(argv[1]) == "beside") return beside();
  const std::string library = preload::subject_library();
  const auto without = preload::environment({}, {"LD_PRELOAD"});
  preload::tally lives(4), mixes(5);
  check_lives(lives, "dlopen", library, without);
  for (const char* what : {"free of libc's block", "realloc of libc's block", "usable size of libc's block"}) {
    const auto r = preload::run_child({preload::self_path(), what, library}, without, 30);
    mixes.check(preload::clear_ending(r), what, r);
    std::printf("%s: %s %s", what, r.how().c_str(), r.err.empty() ? "\n" : r.err.c_str());
  }
  if (preload::run_child({"python3", "-c", "import sqlite3"}, without, 60).exited(0))
    for (const char* mode : {"local", "global"}) {
      const auto r = preload::run_child({"python3", "-c", python_program, library, mode}, without, 60);
      lives.check(r.exited(0) && r.out == "{\"sum\": 499500}\n" && r.err.empty(),
                  std::string("python3 with ctypes, ") + mode, r);
    }
  else std::printf("skipped: there is no python3\n");
  return lives.result() | mixes.result();
}
