// polder-trace — what was recorded by libpolder-trace.so: packed, described, replayed. The heap under test is whatever
// serves malloc: choose it by LD_PRELOAD.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

#include <polder/os/printed.hpp>

#include "core/nearest.hpp"
#include "trace/describe.hpp"
#include "trace/pack.hpp"
#include "trace/replay.hpp"

namespace polder::trace {
namespace {

constexpr char help[] = R"(usage: polder-trace pack RECORDING TRACE
       polder-trace describe TRACE
       polder-trace replay TRACE [--order dependencies|strict] [--window N] [--touch ends|none|pages] [--repeat N]

`describe` and `replay` print one line of JSON. The status is 0 when it went well, 1 when a check of the replay failed,
2 for bad input or where the line cannot be written.
  --order dependencies  a call waits for those it depends on, and for threads that are --window calls behind (1000)
  --order strict        every call in its turn
  --touch ends          blocks are written at both ends, and looked at when they are freed; pages: a word a page too
  --repeat N            N times in one process; what is left each time is freed, untimed
)";

[[noreturn]] void bad_input(const std::string& what) {
  std::fprintf(stderr, "polder-trace: %s\n", what.c_str());
  std::exit(2);
}

// What is written beside TO and becomes it when it is whole; until then, and for ever where something goes wrong, TO is what it
// was.
class whole_file {
 public:
  explicit whole_file(const char* to) : to_(to) {
    struct stat about {};
    if (stat(to, &about) == 0) {
      if (!S_ISREG(about.st_mode)) bad_input(to_ + ": not a file");
      if (char* path = realpath(to, nullptr)) to_ = path, std::free(path);  // a link stays one
    }
    part_ = to_ + ".part";
    file_ = std::fopen(part_.c_str(), "wb");
    if (file_ == nullptr) bad_input(to_ + ": " + std::strerror(errno));
  }
  whole_file(const whole_file&) = delete;
  whole_file& operator=(const whole_file&) = delete;
  ~whole_file() {
    if (file_ == nullptr) return;
    std::fclose(file_);
    unlink(part_.c_str());
  }

  void put(const void* bytes, std::size_t size) { check(std::fwrite(bytes, size, 1, file_) == 1); }
  void go_to_the_beginning() { check(std::fseek(file_, 0, SEEK_SET) == 0); }
  void done() {
    check(std::fflush(file_) == 0 && std::rename(part_.c_str(), to_.c_str()) == 0);
    std::fclose(file_);
    file_ = nullptr;
  }

 private:
  void check(bool good) {
    if (good) return;
    const int error = errno;
    unlink(part_.c_str());
    bad_input(to_ + ": " + std::strerror(error));
  }

  std::string to_;
  std::string part_;
  std::FILE* file_ = nullptr;
};

int pack_file(const char* from, const char* to) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not be as long is told like a full disk
  const mapped_file recording(from);
  (void)raw_header(recording.bytes());  // before anything is written
  whole_file out(to);
  file_header about{};
  out.put(&about, sizeof about);
  about =
      pack(recording.bytes(), [&](const std::vector<std::uint8_t>& chunk) { out.put(chunk.data(), chunk.size()); });
  out.go_to_the_beginning();
  out.put(&about, sizeof about);
  out.done();
  return 0;
}

std::uint32_t number(std::string_view option, std::string_view text, std::uint32_t most) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 1 || value > most) {
    bad_input(std::string(option) + " is a number from 1 to " + std::to_string(most) + ", not '" +
              std::string(text) + "'");
  }
  return value;
}

template <class T>
T choice(std::string_view option, std::string_view word,
         std::initializer_list<std::pair<std::string_view, T>> known) {
  std::vector<std::string_view> names;
  for (const auto& [name, value] : known) {
    if (name == word) return value;
    names.push_back(name);
  }
  bad_input("no " + std::string(option) + " '" + std::string(word) + "': " + bench::nearest(word, names));
}

replay_options options(char** words) {
  replay_options wanted;
  for (; *words != nullptr; words += 2) {
    const std::string_view option = *words;
    if (option != "--order" && option != "--window" && option != "--touch" && option != "--repeat")
      bad_input("no option '" + std::string(option) +
                "': " + bench::nearest(option, {"--order", "--window", "--touch", "--repeat"}));
    if (words[1] == nullptr) bad_input(std::string(option) + " needs a value");
    const std::string_view value = words[1];
    if (option == "--order")
      wanted.order =
          choice<order>(option, value, {{"dependencies", order::dependencies}, {"strict", order::strict}});
    else if (option == "--touch")
      wanted.touch =
          choice<touch>(option, value, {{"ends", touch::ends}, {"none", touch::none}, {"pages", touch::pages}});
    else if (option == "--window") wanted.window = number(option, value, 1'000'000'000);
    else wanted.repeat = number(option, value, 1'000'000);
  }
  return wanted;
}

int replay_file(const char* path, const replay_options& how) {
  const mapped_file file(path);
  std::optional<script> plan;
  {  // the reader's tables are gone before the replay begins
    reader trace(file.bytes());
    plan.emplace(trace);
  }
  char program[sizeof(file_header::program)];
  std::memcpy(program, file.bytes().data() + offsetof(file_header, program), sizeof program);
  return replay(*plan, program, how);
}

int describe_file(const char* path) {
  const mapped_file file(path);
  reader trace(file.bytes());
  std::printf("%s\n", describe(trace).c_str());
  return os::printed("polder-trace");
}

int run(int argc, char** argv) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (command == "help" || command == "--help" || command == "-h") {
    std::printf("%s", help);
    return os::printed("polder-trace");
  }
  if (command.empty()) bad_input(std::string("what?\n") + help);
  if (command != "pack" && command != "describe" && command != "replay")
    bad_input("no command '" + std::string(command) +
              "': " + bench::nearest(command, {"pack", "describe", "replay", "help"}));
  if (argc < 3) bad_input(std::string(command) + " needs a file");
  try {
    if (command == "pack") return argc == 4 ? pack_file(argv[2], argv[3]) : (bad_input("pack RECORDING TRACE"), 2);
    if (command == "replay") return replay_file(argv[2], options(argv + 3));
    return argc == 3 ? describe_file(argv[2]) : (bad_input("describe takes one trace and nothing else"), 2);
  } catch (const bad_trace& why) {
    bad_input(std::string(argv[2]) + ": " + why.what());
  }
}

}  // namespace
}  // namespace polder::trace

int main(int argc, char** argv) { return polder::trace::run(argc, argv); }
