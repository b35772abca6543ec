#pragma once
// recorded — runs the subject under the recorder in a folder of its own, and reads what came of it.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "child.hpp"
#include "trace/event.hpp"
#include "trace/reader.hpp"

namespace polder::trace::test {

namespace files = std::filesystem;
using bench::test::outcome;

inline outcome run_program(const std::string& program, std::vector<std::string> arguments,
                           const std::vector<std::string>& environment = {}) {
  return bench::test::call(program, std::move(arguments), environment);
}

class scratch {
 public:
  scratch() {
    char name[] = "/tmp/polder-trace-test.XXXXXX";
    if (mkdtemp(name) == nullptr) std::abort();
    folder_ = name;
  }
  ~scratch() { files::remove_all(folder_); }
  files::path operator/(const std::string& name) const { return folder_ / name; }

  // The files that begin so, sorted.
  std::vector<files::path> named(const std::string& beginning) const {
    std::vector<files::path> found;
    for (const auto& entry : files::directory_iterator(folder_)) {
      if (entry.path().filename().string().starts_with(beginning)) found.push_back(entry.path());
    }
    std::sort(found.begin(), found.end());
    return found;
  }
  outcome record(const std::string& what, const std::string& libraries = RECORDER, bool children = false) const {
    std::vector<std::string> environment{"LD_PRELOAD=" + libraries, "POLDER_TRACE_FOLDER=" + folder_.string()};
    if (children) environment.push_back("POLDER_TRACE_CHILDREN=1");
    return run_program(SUBJECT, {what}, environment);
  }
  // One recording made a trace.
  files::path packed(const files::path& recording) const {
    const files::path trace = recording.string() + ".trace";
    const auto got = run_program(POLDER_TRACE, {"pack", recording, trace});
    if (got.status != 0) std::printf("pack: %s", got.err.c_str());
    return trace;
  }

 private:
  files::path folder_;
};

struct whole_trace {
  explicit whole_trace(const files::path& file) {
    const mapped_file bytes(file.c_str());
    reader from(bytes.bytes());
    about = from.about();
    event e;
    while (from.next(e)) events.push_back(e);
  }
  unsigned of_size(std::uint64_t size) const {
    unsigned n = 0;
    for (const event& e : events) n += e.what == trace::call::malloc && e.size == size;
    return n;
  }
  file_header about{};
  std::vector<event> events;
};

}  // namespace polder::trace::test
