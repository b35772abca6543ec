// What polder-bench says to good and bad arguments, and polder-timeline-cost to bad ones; that a seed decides everything; that a preset is what
// it says; that nothing of it outlives its time limit.
#include <sys/prctl.h>

#include <cstdio>
#include <string>

#include "child.hpp"
#include "workload/all.hpp"

namespace {

using namespace polder::bench;
unsigned wrong = 0;

void require(bool good, const std::string& what, const test::outcome& got) {
  if (good) return;
  ++wrong;
  std::printf("%s: status %d\nstdout: %s\nstderr: %s\n", what.c_str(), got.status, got.out.c_str(),
              got.err.c_str());
}

void refuses(std::vector<std::string> words, const std::string& phrase, const char* program = POLDER_BENCH) {
  const auto got = test::call(program, words);
  std::string all;
  for (const auto& w : words) all += w + " ";
  require(got.status == 2 && got.out.empty() && got.err.find(phrase) != std::string::npos,
          all + "should say " + phrase, got);
}

// A program whose harness finds no memory says so by its own name.
void names_itself() {
#ifndef __SANITIZE_ADDRESS__  // which maps more than there is
  char folder[] = "/tmp/polder-bench-test.XXXXXX";
  if (mkdtemp(folder) == nullptr) std::abort();
  const std::string program = std::string(folder) + "/another";
  if (symlink(POLDER_BENCH, program.c_str()) != 0) std::abort();
  const auto got = test::call(
      "/bin/sh", {"-c", "ulimit -v 1000000; exec \"$0\" run larson --param objects=10000000 --threads 8", program});
  require(got.status == 2 && got.err == "another: no memory for the harness: Cannot allocate memory\n",
          "no memory for the harness", got);
  unlink(program.c_str());
  rmdir(folder);
#endif
}

std::string field(const std::string& line, const std::string& name) {
  const auto at = line.find("\"" + name + "\":");
  return at == std::string::npos ? "" : line.substr(at, line.find_first_of(",}", at) - at);
}

}  // namespace

int main() {
  const std::vector<std::vector<std::string>> asking = {{"--help"}, {"run", "--help"}, {"run", "larson", "-h"}};
  for (const auto& words : asking) {
    const auto got = test::call(POLDER_BENCH, words);
    require(got.status == 0 && got.err.empty() && got.out.starts_with("usage: "), "help", got);
  }
  refuses({"run", "larsson"}, "no workload 'larsson': did you mean larson?");
  refuses({"run", "zzzzzz"}, "there are threadtest, linux_scalability");
  refuses({"run"}, "which workload?");
  refuses({"run", "larson", "mixed"}, "one workload a run");
  refuses({"run", "larson", "--preset", "scaloc-fig8"}, "did you mean scalloc-fig8?");
  refuses({"run", "larson", "--param", "object=1"}, "did you mean objects?");
  refuses({"run", "larson", "--param", "objects=0"}, "'objects' is from 1 to 10000000, not 0");
  refuses({"run", "larson", "--param", "objects=many"}, "'many' is no number");
  refuses({"run", "larson", "--param", "objects=99999999999G"}, "is no number");
  refuses({"run", "larson", "--param", "objects"}, "not of the form name=value");
  refuses({"run", "larson", "--param", "start=own2"}, "did you mean own?");
  refuses({"run", "larson", "--param", "min=100", "--param", "max=50"}, "'min' is above 'max'");
  refuses({"run", "larson", "--threads", "0"}, "--threads is a number from 1 to 256, not '0'");
  refuses({"run", "larson", "--threads", "two"}, "--threads is a number");
  refuses({"run", "larson", "--threads"}, "--threads needs a value");
  refuses({"run", "larson", "--thread", "2"}, "did you mean --threads");
  refuses({"run", "mixed", "--threads", "65"}, "at most 64 threads");
  refuses({"run", "producer_consumer", "--param", "capacity=100"}, "power of two");
  refuses({"run", "larson", "--latency=some"}, "--latency is a number from 1 to 1000000, not 'some'");
  refuses({"run", "larson", "--latency=0"}, "--latency is a number from 1");
  refuses({"run", "larson", "--latncy"}, "did you mean --latency");
  refuses({"run", "larson", "--live=1"}, "no option '--live'");
  refuses({"run", "larson", "--live", "--main-thread"}, "--live needs the main thread");
  refuses({"run", "message_passing", "--param", "capacity=100"}, "power of two");
  refuses({"run", "fragmentation", "--param", "live=64K octaves=10"}, "below two of the greatest blocks");
  for (const char* steps : {"steps=1", "steps=63"})
    refuses({"run", "growing_set", "--param", steps}, "growing_set: 'steps' is 0 or from 64 on");
  refuses({"lst"}, "did you mean list");
  refuses({"list", "--jsn"}, "list takes --json");
  refuses({}, "usage: polder-bench");
  for (const char* word : {"-1", "0", "1e12", "nan", "3x"}) {
    const std::string said = std::string("'") + word + "' is no number from 1 to";
    refuses({word}, said, TIMELINE_COST);
    refuses({"1", "0.001", word}, said, TIMELINE_COST);
  }
  refuses({"1", "-1"}, "'-1' is no number from 0.001 to 86400", TIMELINE_COST);

  names_itself();

  const auto list = test::call(POLDER_BENCH, {"list", "--json"});
  require(list.status == 0 && list.lines() == 1 && list.out.size() < (1 << 20) &&
              list.says("\"name\":\"larson\"") && list.says("\"group\":\"seeds\"") &&
              list.says("\"group\":\"field\""),
          "list", list);

  for_each(all_workloads{}, [&]<class W>() {
    require(W::info.group == "seeds" || W::info.group == "field" || W::info.of_structures(),
            std::string(W::info.name) + "'s group", {});
    bool quick = false;
    for (const preset& p : W::info.presets) {
      quick |= p.name == "quick";
      settings with(W::info);
      const auto error = with.apply(p.settings);
      require(error.empty(), std::string(W::info.name) + " " + std::string(p.name) + ": " + error, {});
    }
    require(quick, std::string(W::info.name) + " has no preset quick", {});
    const std::vector<std::string> words{"run", std::string(W::info.name), "--preset", "smoke", "--seed", "7"};
    const auto first = test::call(POLDER_BENCH, words);
    const auto second = test::call(POLDER_BENCH, words);
    require(first.status == 0 && field(first.out, "allocations") == field(second.out, "allocations") &&
                field(first.out, "operations") == field(second.out, "operations") &&
                field(first.out, "seed") == "\"seed\":7",
            std::string(W::info.name) + " differs between two runs of one seed", second);
  });

  const auto override_ =
      test::call(POLDER_BENCH, {"run", "threadtest", "--preset=smoke", "--param=size=1K", "--param", "rounds=2"});
  require(
      override_.says("\"size\":1024") && override_.says("\"rounds\":2") && override_.says("\"preset\":\"smoke\""),
      "--param after --preset", override_);

  const auto timed = test::call(POLDER_BENCH, {"run", "larson", "--param", "seconds=1", "--threads", "2"});
  require(timed.status == 0 && !timed.says("\"seconds\":0.") && timed.says("\"ok\":true"), "larson by seconds",
          timed);

  const auto limited = test::call(POLDER_BENCH, {"run", "larson", "--param", "seconds=40", "--time-limit", "1"});
  require(limited.status == 1 && limited.lines() == 1 &&
              limited.says("\"ok\":false,\"why\":\"the time limit is over\""),
          "--time-limit", limited);

  // Children after fork that outlive the program become ours.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const auto forked = test::call(
      POLDER_BENCH, {"run", "fork_storm", "--preset", "smoke", "--param", "child=100000000", "--time-limit", "2"});
  require(forked.status == 1 && forked.says("the time limit is over"), "--time-limit with children", forked);
  unsigned left = 0;
  for (int status = 0; waitpid(-1, &status, 0) > 0; ++left)
    require(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "a child worked on after its parent's end", forked);
  require(left != 0, "no child lived at the time limit", forked);

  std::printf("%u wrong\n", wrong);
  return wrong == 0 ? 0 : 1;
}
