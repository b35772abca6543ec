// Opening and closing libraries (requirement 4), and libraries that find another malloc than the program (requirement 5).
//
//   plugins PLUGIN PLUGIN_WITH_THREAD_LOCAL [SCENARIO]
#include <dlfcn.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "../conformance/calls.hpp"
#include "subject.hpp"

namespace {

namespace subject = conformance::subject;

struct plugin {
  void* handle;
  explicit plugin(void* opened) : handle{opened} {
    if (handle == nullptr) std::fprintf(stderr, "%s\n", ::dlerror()), ::_exit(3);
  }
  template <class F>
  F* get(const char* name) const {
    return reinterpret_cast<F*>(::dlsym(handle, name));
  }
  void* malloc(std::size_t n) const { return get<void*(std::size_t)>("plugin_malloc")(n); }
  void* calloc(std::size_t n) const { return get<void*(std::size_t)>("plugin_calloc")(n); }
  void* aligned(std::size_t n) const { return get<void*(std::size_t)>("plugin_aligned")(n); }
  void* make(std::size_t n) const { return get<void*(std::size_t)>("plugin_new")(n); }
  void* realloc(void* p, std::size_t n) const { return get<void*(void*, std::size_t)>("plugin_realloc")(p, n); }
  void free(void* p) const { get<void(void*)>("plugin_free")(p); }
  void destroy(void* p) const { get<void(void*)>("plugin_delete")(p); }
  char* text(int width) const { return get<char*(int)>("plugin_text")(width); }
  int work(int n) const { return get<int(int)>("plugin_work")(n); }
};

// A thread works in the plugin, and ends after it is closed; its blocks are freed by others later still.
int open_and_close(const char* path, int times) {
  std::size_t at_first = 0;
  for (int i = 0; i < times; ++i) {
    if (i == times / 5) at_first = preload::resident();
    std::atomic<bool> worked{false}, closed{false};
    void* block = nullptr;
    plugin opened(::dlopen(path, RTLD_NOW));
    std::thread worker([&] {
      opened.work(50);
      block = subject::malloc(3000);
      worked = true;
      while (!closed) std::this_thread::yield();
      subject::free(subject::malloc(100));
    });
    while (!worked) std::this_thread::yield();
    opened.work(20);
    ::dlclose(opened.handle);
    closed = true;
    worker.join();
    subject::free(block);
  }
  const std::size_t now = preload::resident(), grown = now > at_first ? now - at_first : 0;
  std::printf("%d times: %zu KiB more\n", times, grown >> 10);
  return grown <= 16 << 20 ? 0 : 1;
}

// Every block made on one side is freed on the other.
int cross(const plugin& p, const std::string& what) {
  for (std::size_t n : {std::size_t{24}, std::size_t{1000}, std::size_t{100'000}, std::size_t{2} << 20}) {
    if (what == "malloc there, free here") subject::free(p.malloc(n));
    if (what == "malloc here, free there") p.free(subject::malloc(n));
    if (what == "calloc there, realloc here") subject::free(subject::realloc(p.calloc(n), 2 * n));
    if (what == "calloc here, realloc there") p.free(p.realloc(subject::calloc(1, n), 2 * n));
    if (what == "aligned there, free here") subject::free(p.aligned(n));
    if (what == "new there, delete here") ::operator delete(p.make(n));
    if (what == "new here, delete there") p.destroy(subject::new_plain(n));
    if (what == "asprintf there, free here") subject::free(p.text(static_cast<int>(n)));
    if (what == "usable size here of malloc there") {
      void* q = p.malloc(n);
      if (subject::usable(q) != 0 && subject::usable(q) < n) return 1;
      p.free(q);
    }
    if (what == "a thread there") std::thread([&] { p.work(500); }).join();
  }
  return 0;
}
const char* const crossings[] = {"malloc there, free here",          "malloc here, free there",
                                 "calloc there, realloc here",       "calloc here, realloc there",
                                 "aligned there, free here",         "new there, delete here",
                                 "new here, delete there",           "asprintf there, free here",
                                 "usable size here of malloc there", "a thread there"};

}  // namespace

int main(int argc, char** argv) {
  if (argc == 5) {
    const std::string how = argv[3], what = argv[4];
    if (how == "open and close") return open_and_close(what == "plain" ? argv[1] : argv[2], 1000);
    if (how == "plain") return cross(plugin(::dlopen(argv[1], RTLD_NOW)), what);
    if (how == "deep") return cross(plugin(::dlopen(argv[1], RTLD_NOW | RTLD_DEEPBIND)), what);
    if (how == "another namespace") return cross(plugin(::dlmopen(LM_ID_NEWLM, argv[1], RTLD_NOW)), what);
    return 2;
  }
  if (argc != 3) return 2;
  auto run = [&](const char* how, const char* what) {
    return preload::run_child({preload::self_path(), argv[1], argv[2], how, what}, preload::environment({}), 120);
  };
  preload::tally lives(4), mixes(5);
  for (const char* which : {"plain", "with a thread local"}) {
    const auto r = run("open and close", which);
    lives.check(r.exited(0) && r.err.empty(), std::string("a plug-in opened and closed 1000 times, ") + which, r);
    std::printf("%s, %s", which, r.out.c_str());
  }
  for (const char* what : crossings) {
    const auto plain = run("plain", what);
    lives.check(plain.exited(0) && plain.err.empty(), std::string("plug-in: ") + what, plain);
    for (const char* how : {"deep", "another namespace"}) {
      const auto r = run(how, what);
      mixes.check(preload::clear_ending(r), std::string(how) + ", " + what, r);
      std::printf("%s, %s: %s %s", how, what, r.how().c_str(), r.err.empty() ? "\n" : r.err.c_str());
    }
  }
  return lives.result() | mixes.result();
}
