// Replaying a trace does what the trace says, the same each time, in either order, under whatever heap is preloaded.
#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "recorded.hpp"

using namespace polder::trace;
using namespace polder::trace::test;

namespace {

unsigned wrong = 0;

void require(bool good, const std::string& why) {
  if (good) return;
  ++wrong;
  std::printf("%s\n", why.c_str());
}

// "name":{…} or "name":value in a line of JSON.
std::string field(const std::string& line, const std::string& name) {
  const auto at = line.find("\"" + name + "\":");
  if (at == std::string::npos) return "";
  return line.substr(at, line.find_first_of(line[at + name.size() + 3] == '{' ? "}" : ",}", at) - at);
}

std::string counts(const outcome& got) {
  std::string all;
  for (const char* name : {"threads", "operations", "allocations", "reallocs", "frees", "remote_frees", "skipped",
                           "live_peak", "calls"})
    all += field(got.out, name) + " ";
  return all;
}

void same_each_time(const std::string& what) {
  const scratch folder;
  unsetenv("LD_PRELOAD");  // the recording is made under the system's malloc
  folder.record(what);
  const char* heap = std::getenv("PRELOADED");
  if (heap != nullptr) setenv("LD_PRELOAD", heap, 1);
  const std::string trace = folder.packed(folder.named("raw.").at(0));
  const auto first = run_program(POLDER_TRACE, {"replay", trace});
  require(first.status == 0 && first.lines() == 1 && first.says("\"ok\":true"),
          what + ": " + first.out + first.err);
  for (const auto& options : std::vector<std::vector<std::string>>{{},
                                                                   {"--order", "strict"},
                                                                   {"--window", "1"},
                                                                   {"--window", "1000000"},
                                                                   {"--touch", "none"},
                                                                   {"--touch", "pages"}}) {
    std::vector<std::string> words{"replay", trace};
    words.insert(words.end(), options.begin(), options.end());
    const auto again = run_program(POLDER_TRACE, words);
    require(again.status == 0 && counts(again) == counts(first),
            what + ": " + counts(first) + "\n  is now: " + counts(again) + again.err);
  }
  const whole_trace whole(trace);
  std::uint64_t remote = 0;
  std::uint64_t done = 0;
  std::vector<std::uint32_t> maker(whole.about.objects);
  for (const event& e : whole.events) {
    if (e.makes()) maker[e.object] = e.thread;
    remote += e.ends() && maker[e.object] != e.thread;
    done += !e.failed;
  }
  require(field(first.out, "operations") == "\"operations\":" + std::to_string(done) &&
              field(first.out, "remote_frees") == "\"remote_frees\":" + std::to_string(remote),
          what + ": other counts than in the trace: " + counts(first));
  const auto thrice = run_program(POLDER_TRACE, {"replay", trace, "--repeat", "3"});
  require(field(thrice.out, "operations") == "\"operations\":" + std::to_string(3 * done),
          what + ": --repeat 3: " + thrice.out);
}

// To be read, a trace of so many calls takes tens of times as much memory as the one block that lives.
void peak_of_the_heap_alone() {
  const scratch folder;
  unsetenv("LD_PRELOAD");
  folder.record("little_often");
  const auto got =
      run_program(POLDER_TRACE, {"replay", folder.packed(folder.named("raw.").at(0)), "--touch", "pages"});
  const std::string grown = field(got.out, "grown_kb");
  if (grown == "\"grown_kb\":null") return;
  const long kb = grown.empty() ? -1 : std::atol(grown.c_str() + grown.find(':') + 1);
  require(kb >= 1024 && kb < 4096, "little_often: a peak of " + std::to_string(kb) + " KB for 1 MiB");
}

void refuses(const std::vector<std::string>& words, const std::string& phrase) {
  const auto got = run_program(POLDER_TRACE, words);
  std::string all;
  for (const auto& w : words) all += w + " ";
  require(got.status == 2 && got.out.empty() && got.err.find(phrase) != std::string::npos,
          all + "should say " + phrase + ": " + got.err);
}

void bad_input() {
  const scratch folder;
  unsetenv("LD_PRELOAD");
  folder.record("some");
  const std::string recording = folder.named("raw.").at(0);
  const std::string trace = folder.packed(recording);
  const auto cut = (folder / "cut").string();
  files::copy_file(trace, cut);
  files::resize_file(cut, files::file_size(cut) - 10);
  const auto pipe = (folder / "pipe").string();
  require(mkfifo(pipe.c_str(), 0600) == 0, "no pipe");
  refuses({"pack", pipe, cut}, "not a file");
  for (const char* command : {"describe", "replay"}) {
    refuses({command, pipe}, "not a file");
    refuses({command, cut}, "truncated");
    refuses({command, recording}, "a raw recording");
    refuses({command, POLDER_TRACE}, "not a trace of Polder's");
    refuses({command, "/nonexistent"}, "cannot be read: No such file");
    refuses({command, "/tmp"}, "not a file");
    refuses({command}, "needs a file");
  }
  refuses({"pack", trace, cut}, "not a raw recording");
  refuses({"pack", recording, "/nonexistent/x"}, "No such file");
  refuses({"replay", trace, "--order", "strct"}, "did you mean strict?");
  refuses({"replay", trace, "--ordr", "strict"}, "did you mean --order?");
  refuses({"replay", trace, "--repeat", "0"}, "--repeat is a number from 1 to 1000000, not '0'");
  refuses({"replay", trace, "--window"}, "--window needs a value");
  refuses({"reply", trace}, "did you mean replay?");
  refuses({}, "usage: polder-trace");
}

std::string contents(const files::path& file) {
  std::ifstream from(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(from), {}};
}

// What cannot be packed costs nothing that was there; and a file may be packed into itself.
void packs_whole_or_not_at_all() {
  const scratch folder;
  unsetenv("LD_PRELOAD");
  folder.record("some");
  const std::string recording = folder.named("raw.").at(0);
  const std::string trace = folder.packed(recording);
  const std::string packed = contents(trace);
  refuses({"pack", POLDER_TRACE, trace}, "not a raw recording");
  refuses({"pack", folder / "command", trace}, "truncated");
  require(contents(trace) == packed, "pack: what cannot be packed destroyed a trace");
  const auto full =
      run_program("/bin/sh", {"-c", "ulimit -f 0; exec \"$0\" pack \"$1\" \"$2\"", POLDER_TRACE, recording, trace});
  require(full.status == 2 && full.err.find("File too large") != std::string::npos && contents(trace) == packed,
          "pack: without room: " + full.err);
  const auto left = folder.named("raw.");
  require(left.size() == 2, "pack: something is left of what could not be written");
  refuses({"pack", recording, "/dev/null"}, "not a file");
  const auto link = folder / "link";
  files::create_symlink(trace, link);
  const auto by_link = run_program(POLDER_TRACE, {"pack", recording, link});
  require(by_link.status == 0 && files::is_symlink(link), "pack: a link to a trace: " + by_link.err);
  const auto itself = run_program(POLDER_TRACE, {"pack", recording, recording});
  require(itself.status == 0 && contents(recording) == packed, "pack: into itself: " + itself.err);
}

}  // namespace

int main() {
  if (const char* heap = std::getenv("LD_PRELOAD")) setenv("PRELOADED", std::string(heap).c_str(), 1);
  for (const char* what : {"calls", "threads", "churn"}) same_each_time(what);
  peak_of_the_heap_alone();
  bad_input();
  packs_whole_or_not_at_all();
  std::printf("%u wrong\n", wrong);
  return wrong == 0 ? 0 : 1;
}
