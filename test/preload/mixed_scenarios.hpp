#pragma once
// mixed_scenarios — what a program goes through that has an allocator of its own linked in while a heap is preloaded
// (requirement 5). Each scenario either works or ends with one clear line.
#include <malloc.h>

#include <new>
#include <string>
#include <thread>
#include <vector>

#include "../conformance/calls.hpp"
#include "subject.hpp"

namespace preload {

namespace subject = conformance::subject;

inline int mixed_scenario(const std::string& what) {
  for (std::size_t n : {std::size_t{24}, std::size_t{1000}, std::size_t{100'000}, std::size_t{1} << 20}) {
    const std::string text(n, 't');
    if (what == "malloc") subject::free(subject::malloc(n));
    if (what == "calloc") {
      auto* p = static_cast<char*>(subject::calloc(1, n));
      if (p == nullptr || p[0] != 0 || p[n - 1] != 0) return 1;
      subject::free(p);
    }
    if (what == "realloc") {
      auto* p = static_cast<char*>(subject::malloc(n));
      std::memset(p, 3, n);
      p = static_cast<char*>(subject::realloc(p, 3 * n));
      if (p == nullptr || p[n - 1] != 3) return 1;
      subject::free(p);
    }
    if (what == "strdup") subject::free(conformance::opaque(&::strdup)(text.c_str()));
    if (what == "asprintf") {
      char* made = nullptr;
      if (::asprintf(&made, "%s", text.c_str()) != static_cast<int>(n)) return 1;
      subject::free(made);
    }
    if (what == "getline") {
      std::FILE* file = std::tmpfile();
      std::fputs(text.c_str(), file);
      std::fputs("\n", file);
      std::rewind(file);
      auto* line = static_cast<char*>(subject::malloc(16));
      std::size_t size = 16;
      if (::getline(&line, &size, file) != static_cast<ssize_t>(n) + 1) return 1;
      subject::free(line);
      std::fclose(file);
    }
    if (what == "aligned") {
      void* p = subject::aligned_alloc(256, n);
      if (p == nullptr) return 1;
      std::memset(p, 1, n);
      subject::free(p);
    }
    if (what == "usable size") {
      void* p = subject::malloc(n);
      const std::size_t usable = subject::usable(p);
      if (usable != 0 && usable < n) return 1;
      subject::free(p);
    }
    if (what == "new") {
      ::operator delete(subject::new_plain(n));
      ::operator delete[](subject::new_array(n));
      ::operator delete(subject::new_plain(n, std::align_val_t(128)), std::align_val_t(128));
    }
    if (what == "threads")
      for (int i = 0; i < 20; ++i)
        std::thread([&] {
          std::vector<std::string> words(30, text.substr(0, 500));
          words.resize(60);
        }).join();
    if (what == "exception") try {
        throw std::string(text);
      } catch (const std::string& s) {
        if (s.size() != n) return 1;
      }
  }
  return 0;
}

inline int mixed_main(int argc, char** argv) {
  if (argc == 2) return mixed_scenario(argv[1]);
  tally mixes(5);
  for (const char* what : {"malloc", "calloc", "realloc", "strdup", "asprintf", "getline", "aligned", "usable size",
                           "new", "threads", "exception"}) {
    const auto r = run_child({self_path(), what}, environment({}), 60);
    mixes.check(clear_ending(r), what, r);
    std::printf("%s: %s %s", what, r.how().c_str(), r.err.empty() ? "\n" : r.err.c_str());
  }
  return mixes.result();
}

}  // namespace preload
