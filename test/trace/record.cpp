// What is recorded is what was called: one by one, across threads, and through fork, exec, kill and the end of threads.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <tuple>

#include "recorded.hpp"

using namespace polder::trace;
using namespace polder::trace::test;
using what = polder::trace::call;

namespace {

unsigned wrong = 0;

void require(bool good, const std::string& why) {
  if (good) return;
  ++wrong;
  std::printf("%s\n", why.c_str());
}

// `kind`: f failed, n null, g gone.
struct expected {
  what call;
  std::uint64_t size;
  unsigned alignment_log2;
  int object;  // from the first mark on; -1: none
  char kind;
};

constexpr expected list[] = {
    {what::malloc, 10, 0, 0, ' '},
    {what::calloc, 60, 0, 1, ' '},
    {what::realloc, 100'000, 0, 0, ' '},
    {what::posix_memalign, 200, 6, 2, ' '},
    {what::aligned_alloc, 256, 7, 3, ' '},
    {what::memalign, 300, 12, 4, ' '},
    {what::free, 0, 0, -1, 'n'},
    {what::realloc, 77, 0, 5, 'n'},
    {what::usable_size, 0, 0, 1, ' '},
    {what::realloc, 0, 0, 5, 'g'},
    {what::realloc, 40, 0, 1, ' '},
    {what::malloc, SIZE_MAX / 4, 0, -1, 'f'},
    {what::free, 0, 0, 0, ' '},
    {what::free, 0, 0, 1, ' '},
    {what::free, 0, 0, 2, ' '},
    {what::free, 0, 0, 3, ' '},
    {what::free, 0, 0, 4, ' '},
    {what::malloc, 500, 0, 6, ' '},
    {what::free, 0, 0, 6, ' '},
    {what::memalign, 96, 5, 7, ' '},
    {what::free, 0, 0, 7, ' '},
};

// A heap may answer realloc(p, 0) with a block.
void every_call(const std::string& libraries, bool frees_by_realloc) {
  const scratch folder;
  const auto got = folder.record("calls", libraries);
  const auto recordings = folder.named("raw.");
  require(got.status == 0 && recordings.size() == 1, "calls: status " + std::to_string(got.status) + " " + got.err);
  if (recordings.size() != 1) return;
  const whole_trace trace(folder.packed(recordings[0]));
  require(std::string(trace.about.program) == "polder_trace_subject",
          std::string("program ") + trace.about.program);
  require(trace.about.foreign == 0 && trace.about.cut_short == 0, "calls: something was missed");
  const auto at = [&](std::uint64_t size) {
    return std::find_if(trace.events.begin(), trace.events.end(), [&](const event& e) { return e.size == size; });
  };
  const auto begin = at(123457);
  const auto end = at(123459);
  if (begin == trace.events.end() || end - begin != std::ssize(list) + 2) {
    require(false, "calls: " + std::to_string(end - begin - 2) + " events between the marks");
    return;
  }
  const std::uint32_t first = begin->object + 1;
  for (std::size_t n = 0; n < std::size(list); ++n) {
    const expected& x = list[n];
    const event& e = begin[static_cast<std::ptrdiff_t>(n) + 2];
    const char kind = e.failed ? 'f' : e.null ? 'n' : e.gone ? 'g' : ' ';
    const bool has_object = e.makes() || e.uses();
    require(e.what == x.call && e.size == x.size && e.alignment_log2 == x.alignment_log2 &&
                (kind == x.kind || (x.kind == 'g' && !frees_by_realloc)) &&
                (x.object < 0 ? !has_object : has_object && e.object == first + static_cast<unsigned>(x.object)) &&
                e.thread == 0,
            "calls: event " + std::to_string(n) + " is another one, " +
                std::string(call_names[static_cast<unsigned>(e.what)]));
  }
}

// The order is right when no block is used before it was made: that would be a foreign one.
void across_threads(const std::string& libraries) {
  for (int round = 0; round < 5; ++round) {
    const scratch folder;
    const auto got = folder.record("threads", libraries);
    const auto recordings = folder.named("raw.");
    require(got.status == 0 && recordings.size() == 1, "threads: status " + std::to_string(got.status));
    if (recordings.size() != 1) return;
    const whole_trace trace(folder.packed(recordings[0]));
    std::uint64_t made = 0;
    std::uint64_t ended = 0;
    std::uint64_t resized = 0;
    for (const event& e : trace.events) {
      const bool of_worker = e.thread != 0;
      made += of_worker && e.makes() && e.size >= 16 && e.size < 32;
      ended += of_worker && e.ends();
      resized += of_worker && e.what == what::realloc;
    }
    require(trace.about.threads == 5 && trace.about.foreign == 0,
            "threads: " + std::to_string(trace.about.foreign) + " foreign");
    require(made == 80'000 && resized == 10'000 && ended >= 80'000 - 64 && ended <= 80'000 + 64,
            "threads: " + std::to_string(made) + " made, " + std::to_string(ended) + " ended, " +
                std::to_string(resized) + " resized");
  }
}

void order_of_a_block_that_changes_hands() {
  const scratch folder;
  const auto got = folder.record("hands_over", RECORDER ":" HANDING_HEAP);
  const auto recordings = folder.named("raw.");
  require(got.status == 0 && recordings.size() == 1, "hands_over: status " + std::to_string(got.status));
  if (recordings.size() != 1) return;
  const whole_trace trace(folder.packed(recordings[0]));
  std::string seen;
  for (const event& e : trace.events) {
    if (e.what == what::malloc && e.size == 7777) seen += e.thread == 0 ? "a" : "b";
    if (e.what == what::realloc && e.size == 9999) seen += "r";
  }
  unsigned freed = 0;
  for (const event& e : trace.events) freed += e.ends() && e.thread != 0;
  require(seen == "abarb" && trace.about.foreign == 0 && freed >= 2,
          "hands_over: " + seen + ", " + std::to_string(trace.about.foreign) +
              " foreign: a life began before the last one ended");
}

void short_lived_threads() {
  const scratch folder;
  folder.record("churn");
  const auto recordings = folder.named("raw.");
  require(recordings.size() == 1, "churn: no recording");
  if (recordings.size() != 1) return;
  require(files::file_size(recordings[0]) < 20 * (64 << 10), "churn: threads that ended keep their chunks");
  const whole_trace trace(folder.packed(recordings[0]));
  require(trace.of_size(4321) == 3000 && trace.about.threads == 1001 && trace.about.foreign == 0,
          "churn: " + std::to_string(trace.of_size(4321)) + " calls of " + std::to_string(trace.about.threads) +
              " threads");
}

void forked(const std::string& how, unsigned children) {
  const scratch both;
  auto got = both.record(how, RECORDER, true);
  auto recordings = both.named("raw.");
  require(got.status == 0 && recordings.size() == children + 1,
          how + ": status " + std::to_string(got.status) + " " + got.err + ", " +
              std::to_string(recordings.size()) + " recordings");
  unsigned of_parent = 0;
  unsigned of_child = 0;
  for (const auto& r : recordings) {
    const whole_trace trace(both.packed(r));
    const bool parent =
        trace.of_size(1111) == 10 * children && trace.of_size(2222) == 0 && trace.of_size(3333) == 30 * children;
    const bool child = trace.of_size(1111) == 0 && trace.of_size(2222) == 20 && trace.of_size(3333) == 0 &&
                       trace.about.threads == 1;
    of_parent += parent;
    of_child += child;
  }
  require(of_parent == 1 && of_child == children, how + ": calls of one process are in the recording of another");

  const scratch alone;
  got = alone.record(how);
  recordings = alone.named("raw.");
  const std::size_t skipped = alone.named("skipped.").size();
  require(got.status == 0 && recordings.size() == 1 && skipped == children,
          how + ": status " + std::to_string(got.status) + " " + got.err + ", " +
              std::to_string(recordings.size()) + " recordings and " + std::to_string(skipped) +
              " children left out");
}

void killed() {
  const scratch folder;
  const auto got = folder.record("killed");
  const auto recordings = folder.named("raw.");
  require(got.status == 128 + 9 && recordings.size() == 1, "killed: status " + std::to_string(got.status));
  if (recordings.size() != 1) return;
  require(whole_trace(folder.packed(recordings[0])).of_size(4321) == 5000, "killed: calls are missing");
}

void keeps_its_file(const std::string& how) {
  const scratch folder;
  const auto got = folder.record(how);
  if (got.status == 77) return;  // only root has rights to give up
  const auto recordings = folder.named("raw.");
  require(got.status == 0 && recordings.size() == 1, how + ": status " + std::to_string(got.status));
  if (recordings.size() != 1) return;
  const whole_trace trace(folder.packed(recordings[0]));
  require(trace.of_size(4321) == 20'000 && trace.about.cut_short == 0,
          how + ": " + std::to_string(trace.of_size(4321)) + " of 20000 calls");
}

void becomes_another_program() {
  const scratch folder;
  folder.record("execs");
  const auto recordings = folder.named("raw.");
  require(recordings.size() == 2, "execs: " + std::to_string(recordings.size()) + " recordings");
  if (recordings.size() != 2) return;
  require(whole_trace(folder.packed(recordings[0])).of_size(1111) == 10, "execs: the first program");
  require(whole_trace(folder.packed(recordings[1])).of_size(4321) == 100, "execs: the second program");
}

void no_room() {
  const auto got = run_program(SUBJECT, {"calls"}, {"LD_PRELOAD=" RECORDER, "POLDER_TRACE_FOLDER=/nonexistent"});
  require(got.status == 0, "a program whose recording cannot be written does not run");
}

// In blocks of 512 bytes: what a file may not hold is not written, and the program goes on.
void limited(unsigned blocks) {
  const scratch folder;
  const std::string limit = "ulimit -f " + std::to_string(blocks) +
                            "; LD_PRELOAD=" RECORDER " POLDER_TRACE_FOLDER=\"$0\" exec " SUBJECT " little_often";
  const auto got = run_program("/bin/sh", {"-c", limit, folder / ""});
  require(got.status == 0, "limited to " + std::to_string(blocks) + ": status " + std::to_string(got.status));
  const auto recordings = folder.named("raw.");
  if (blocks < 8) return;
  require(recordings.size() == 1, "limited: no recording");
  if (recordings.size() != 1) return;
  const whole_trace trace(folder.packed(recordings[0]));
  require(trace.about.cut_short != 0 && trace.of_size(1 << 20) > 1000,
          "limited: not cut short where the room ends");
}

}  // namespace

int main() {
  every_call(RECORDER, true);
  across_threads(RECORDER);
  if (sizeof HEAP > 1) {
    every_call(RECORDER ":" HEAP, false);
    across_threads(RECORDER ":" HEAP);
  }
  order_of_a_block_that_changes_hands();
  short_lived_threads();
  forked("forks", 1);
  forked("forks_among_threads", 20);
  killed();
  keeps_its_file("gives_up_its_rights");
  keeps_its_file("closes_everything");
  becomes_another_program();
  no_room();
  for (const unsigned blocks : {0, 1, 200}) limited(blocks);
  std::printf("%u wrong\n", wrong);
  return wrong == 0 ? 0 : 1;
}
