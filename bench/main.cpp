// polder-bench — the workloads, one run a call. The heap under test is whatever serves malloc: choose it by LD_PRELOAD.
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include <polder/os/printed.hpp>

#include "core/json.hpp"
#include "core/latency.hpp"
#include "core/nearest.hpp"
#include "core/run.hpp"
#include "workload/all.hpp"

namespace polder::bench {
namespace {

constexpr char help[] = R"(usage: polder-bench list [--json]
       polder-bench run WORKLOAD [--threads N] [--preset NAME] [--param NAME=VALUE]... [--seed N]
                                 [--main-thread] [--time-limit SECONDS] [--latency[=N|all]] [--live]
                                 [--timeline FILE] [--picture FILE]

`run` prints one line of JSON. Its status is 0 when the run was good, 1 when a check failed, 2 for bad input
or where the line cannot be written.
  --param NAME=VALUE   a parameter (see `list`); sizes may end in K, M or G
  --preset NAME        the values of a paper; --param overrides them
  --main-thread        the first worker is the main thread; with one thread, no other ever exists
  --time-limit SECONDS ends the run with "ok":false
  --latency[=N|all]    times one call of N, 64 unless told, or all of them: `latency` in the line
  --live               looks at live bytes every millisecond: `live_peak`, `memory_live`, `memory_rss` in the line
  --timeline FILE      records what each thread does when, for `./polder timeline`
  --picture FILE       where mandelbrot's picture goes, a portable greymap
)";

[[noreturn]] void bad_input(const std::string& what) {
  std::fflush(stdout);
  std::fprintf(stderr, "polder-bench: %s\n", what.c_str());
  std::exit(2);
}

struct entry {
  const workload_info* info;
  void (*execute)(run&);
};

std::vector<entry> registry() {
  std::vector<entry> entries;
  for_each(all_workloads{}, [&]<class W>() { entries.push_back({&W::info, W::execute}); });
  return entries;
}

void list_text() {
  for (const entry& e : registry()) {
    const workload_info& i = *e.info;
    std::printf("%s — %s (%s: %s)\n  %s\n  Shows: %s\n", i.name.data(), i.title.data(), i.group.data(),
                i.paper.data(), i.what.data(), i.shows.data());
    for (const parameter& p : i.parameters) {
      if (p.choices.empty()) {
        std::printf("    %-14s %10lld %-12s %s (%lld to %lld)\n", p.name.data(), static_cast<long long>(p.standard),
                    p.unit.data(), p.what.data(), static_cast<long long>(p.least), static_cast<long long>(p.most));
      } else {
        std::printf("    %-14s %10s %-12s %s (%s)\n", p.name.data(),
                    std::string(choice(p.choices, p.standard)).c_str(), "", p.what.data(), p.choices.data());
      }
    }
    for (const preset& p : i.presets) {
      std::printf("    --preset %-16s %s: %s\n", p.name.data(), p.source.data(), p.settings.data());
    }
    std::printf("\n");
  }
}

void list_json() {
  std::vector<char> buffer(1 << 20);
  json out(buffer.data(), buffer.size());
  out.open('{').key("workloads").open('[');
  for (const entry& e : registry()) {
    const workload_info& i = *e.info;
    out.open('{').key("name").text(i.name).key("title").text(i.title).key("paper").text(i.paper);
    out.key("group").text(i.group).key("what").text(i.what).key("shows").text(i.shows);
    out.key("most_threads").number(std::uint64_t{i.most_threads});
    out.key("parameters").open('[');
    for (const parameter& p : i.parameters) {
      out.open('{').key("name").text(p.name).key("unit").text(p.unit).key("what").text(p.what);
      if (p.choices.empty()) {
        out.key("default").number(p.standard).key("min").number(p.least).key("max").number(p.most);
      } else {
        out.key("default").text(choice(p.choices, p.standard)).key("choices").open('[');
        for (std::int64_t w = 0; !choice(p.choices, w).empty(); ++w) out.text(choice(p.choices, w));
        out.close(']');
      }
      out.close('}');
    }
    out.close(']').key("presets").open('[');
    for (const preset& p : i.presets) {
      settings with(i);
      if (const auto wrong = with.apply(p.settings); !wrong.empty())
        bad_input("preset " + std::string(p.name) + ": " + wrong);
      out.open('{').key("name").text(p.name).key("source").text(p.source).key("settings").open('{');
      for (unsigned n = 0; n < i.parameters.size(); ++n) {
        const parameter& q = i.parameters[n];
        out.key(q.name);
        if (q.choices.empty()) out.number(with.at(n));
        else out.text(choice(q.choices, with.at(n)));
      }
      out.close('}').close('}');
    }
    out.close(']').close('}');
  }
  out.close(']').close('}');
  std::printf("%.*s\n", static_cast<int>(out.written().size()), out.written().data());
}

struct request {
  std::string_view workload;
  std::string_view preset;
  std::vector<std::string_view> parameters;
  std::uint64_t threads = 1;
  std::uint64_t seed = 1;
  std::uint64_t time_limit = 0;
  bool in_main = false;
  std::uint64_t latency_every = 0;  // 0: not timed
  bool live = false;
  std::string_view timeline;
  std::string_view picture;
};

std::uint64_t count(std::string_view option, std::string_view text, std::uint64_t least, std::uint64_t most) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most) {
    bad_input(std::string(option) + " is a number from " + std::to_string(least) + " to " + std::to_string(most) +
              ", not '" + std::string(text) + "'");
  }
  return value;
}

request read(std::vector<std::string_view> words) {
  request wanted;
  for (std::size_t at = 0; at < words.size(); ++at) {
    std::string_view word = words[at];
    if (!word.starts_with("-")) {
      if (!wanted.workload.empty()) bad_input("one workload a run, not '" + std::string(word) + "' as well");
      wanted.workload = word;
      continue;
    }
    std::optional<std::string_view> joined;
    if (const auto equals = word.find('='); equals != std::string_view::npos) {
      joined = word.substr(equals + 1);
      word = word.substr(0, equals);
    }
    const auto value = [&] {
      if (joined) return *joined;
      if (at + 1 == words.size()) bad_input(std::string(word) + " needs a value");
      return words[++at];
    };
    if (word == "--threads") {
      wanted.threads = count(word, value(), 1, 256);
    } else if (word == "--param") {
      wanted.parameters.push_back(value());
    } else if (word == "--preset") {
      wanted.preset = value();
    } else if (word == "--seed") {
      wanted.seed = count(word, value(), 0, ~std::uint64_t{0});
    } else if (word == "--time-limit") {
      wanted.time_limit = count(word, value(), 1, 1'000'000);
    } else if (word == "--latency") {
      wanted.latency_every = !joined            ? latency::usual_every
                             : *joined == "all" ? 1
                                                : count(word, *joined, 1, 1'000'000);
    } else if (word == "--timeline") {
      wanted.timeline = value();
    } else if (word == "--picture") {
      wanted.picture = value();
    } else if (word == "--live" && !joined) {
      wanted.live = true;
    } else if (word == "--main-thread" && !joined) {
      wanted.in_main = true;
    } else {
      bad_input("no option '" + std::string(word) + "': " +
                nearest(word, {"--threads", "--param", "--preset", "--seed", "--main-thread", "--time-limit",
                               "--latency", "--live", "--timeline", "--picture"}));
    }
  }
  return wanted;
}

int run_one(const request& wanted) {
  const auto entries = registry();
  std::vector<std::string_view> names;
  for (const entry& e : entries) names.push_back(e.info->name);
  if (wanted.workload.empty()) bad_input("which workload? " + nearest("", names));
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const entry& e) { return e.info->name == wanted.workload; });
  if (found == entries.end()) {
    bad_input("no workload '" + std::string(wanted.workload) + "': " + nearest(wanted.workload, names));
  }
  const workload_info& info = *found->info;
  if (wanted.threads > info.most_threads) {
    bad_input(std::string(info.name) + " runs with at most " + std::to_string(info.most_threads) + " threads");
  }

  if (!wanted.timeline.empty() && !info.of_structures())
    bad_input(std::string(info.name) + " records no timeline; a heap does: POLDER_OPTIONS=timeline=FILE");
  if (!wanted.picture.empty() && info.name != mandelbrot::info.name)
    bad_input(std::string(info.name) + " paints no picture: mandelbrot does");
  if (wanted.live && wanted.in_main) bad_input("--live needs the main thread to look: not with --main-thread");

  settings with(info);
  if (!wanted.preset.empty()) {
    std::vector<std::string_view> presets;
    std::optional<std::string_view> chosen;
    for (const preset& p : info.presets) {
      presets.push_back(p.name);
      if (p.name == wanted.preset) chosen = p.settings;
    }
    if (!chosen) {
      bad_input(std::string(info.name) + " has no preset '" + std::string(wanted.preset) +
                "': " + nearest(wanted.preset, presets));
    }
    if (const auto wrong = with.apply(*chosen); !wrong.empty()) bad_input("preset: " + wrong);
  }
  for (const auto text : wanted.parameters) {
    if (const auto wrong = with.apply(text); !wrong.empty()) bad_input(wrong);
  }

  if (wanted.latency_every != 0) {
    latency::watch(static_cast<unsigned>(wanted.latency_every), static_cast<unsigned>(wanted.threads));
  }
  run r(with, wanted.preset, static_cast<unsigned>(wanted.threads), wanted.seed, wanted.in_main);
  r.timeline = wanted.timeline;
  r.picture = wanted.picture;
  if (wanted.live) r.watch_live();
  if (wanted.time_limit != 0) alarm(static_cast<unsigned>(wanted.time_limit));
  try {
    found->execute(r);
  } catch (const std::bad_alloc&) {
    r.fail("operator new found no memory");
  }
  return r.finish();
}

}  // namespace
}  // namespace polder::bench

int main(int argc, char** argv) {
  using namespace polder::bench;
  std::vector<std::string_view> words(argv + 1, argv + argc);
  if (words.empty()) bad_input(std::string("what?\n") + help);
  const std::string_view command = words.front();
  words.erase(words.begin());
  const auto asks_for_help = [](std::string_view word) { return word == "--help" || word == "-h"; };
  if (command == "help" || asks_for_help(command) ||
      (command == "run" && std::ranges::any_of(words, asks_for_help))) {
    std::printf("%s", help);
    return polder::os::printed("polder-bench");
  }
  if (command == "run") return run_one(read(words));
  if (command == "list") {
    if (words.empty()) list_text();
    else if (words.size() == 1 && words[0] == "--json") list_json();
    else bad_input("list takes --json and nothing else");
    return polder::os::printed("polder-bench");
  }
  bad_input("no command '" + std::string(command) + "': " + nearest(command, {"list", "run", "help"}));
}
