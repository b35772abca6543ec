// The workloads' checks can fail: under a malloc with a planted fault each says "ok":false and ends with status 1; under
// the same malloc without a fault each is good.
#include <cstdio>
#include <string>

#include "child.hpp"
#include "line.hpp"
#include "workload/all.hpp"

int main() {
  using namespace polder::bench;
  unsigned wrong = 0;
  unsigned found = 0;

  const auto expect = [&](std::string_view workload, std::string_view preset, const std::string& fault) {
    const auto got = test::call(
        POLDER_BENCH,
        {"run", std::string(workload), "--preset", std::string(preset), "--threads", "2", "--time-limit", "40"},
        {"LD_PRELOAD=" BROKEN_MALLOC, "POLDER_BENCH_FAULT=" + fault});
    // A queue whose links were overwritten cannot be walked, or is walked in circles: there a fatal signal or the time limit,
    // reported, is as much as there can be.
    const bool lost =
        workload == "lock_free_producer_consumer" &&
        (got.says("\"ok\":false,\"why\":\"signal") || got.says("\"ok\":false,\"why\":\"the time limit"));
    const bool right = fault == "none" ? got.status == 0 && got.says("\"ok\":true")
                                       : lost || (got.status == 1 && got.says("\"ok\":false") &&
                                                  !got.says("\"why\":\"signal") && !got.says("time limit"));
    found += right;
    if (right && got.lines() == 1) return;
    ++wrong;
    std::printf("%s --preset %s with fault '%s': status %d\n%s%s", std::string(workload).c_str(),
                std::string(preset).c_str(), fault.c_str(), got.status, got.out.c_str(), got.err.c_str());
  };

  for_each(all_workloads{}, [&]<class W>() {
    for (const preset& p : W::info.presets) {
      if (!p.name.starts_with("smoke")) continue;
      for (const char* fault : {"none", "null"}) expect(W::info.name, p.name, fault);
      // Behind a heap that hands out a block twice a structure breaks before its workload's checks are reached.
      if (W::info.of_structures()) continue;
      for (const char* fault : {"oldest", "misaligned"}) expect(W::info.name, p.name, fault);
      // Pairs hold one block at a time: nothing else is there to be overwritten.
      const bool holds_many = !(W::info.name == "linux_scalability" && p.name == "smoke");
      if (!holds_many) continue;
      expect(W::info.name, p.name, "short");
      expect(W::info.name, p.name, "twice");
      expect(W::info.name, p.name, "scribble");
    }
  });
  for (const char* workload : {"calloc_zero", "mixed"}) expect(workload, "smoke", "dirty");
  for (const char* fault : {"orphan", "atfork"}) expect("fork_storm", "smoke", fault);
  for (const char* workload : {"realloc_growth", "mixed"}) expect(workload, "smoke", "lossy");

  // What a guard costs is not an idle thread's.
  const auto dear = test::call(POLDER_BENCH, {"run", "idle_threads", "--preset", "smoke"},
                               {"LD_PRELOAD=" BROKEN_MALLOC, "POLDER_BENCH_FAULT=dear"});
  if (dear.status != 0 || test::number(dear.out, "rss_per_idle_thread") >= 1 << 19) {
    ++wrong;
    std::printf("a dear guard: status %d\n%s%s", dear.status, dear.out.c_str(), dear.err.c_str());
  }

  // The first call of each short thread is timed.
  const auto slow = test::call(POLDER_BENCH, {"run", "thread_churn", "--preset", "smoke", "--latency=all"},
                               {"LD_PRELOAD=" BROKEN_MALLOC, "POLDER_BENCH_FAULT=slow"});
  long long waited = 0;
  for (const auto& b : test::buckets(slow.out, slow.out.find("\"malloc\":{")))
    waited += b.low >= 1'900'000 ? b.count : 0;
  if (slow.status != 0 || waited < test::number(slow.out, "lives")) {
    ++wrong;
    std::printf("a slow first call: status %d, %lld slow\n%s%s", slow.status, waited, slow.out.c_str(),
                slow.err.c_str());
  }

  const auto late = test::call(POLDER_BENCH, {"run", "fork_storm", "--preset", "smoke"},
                               {"LD_PRELOAD=" BROKEN_MALLOC, "POLDER_BENCH_FAULT=late"});
  if (late.status != 1 || !late.says("a child after fork did not end in time")) {
    ++wrong;
    std::printf("a child that is late: status %d\n%s%s", late.status, late.out.c_str(), late.err.c_str());
  }

  // A crash when all is told is nobody's to wait for.
  const auto crashed = test::call(POLDER_BENCH, {"run", "threadtest", "--preset", "smoke"},
                                  {"LD_PRELOAD=" BROKEN_MALLOC, "POLDER_BENCH_FAULT=exit"});
  if (crashed.status != 128 + SIGABRT || crashed.lines() != 1 || !crashed.says("\"ok\":true")) {
    ++wrong;
    std::printf("a crash at the end: status %d\n%s%s", crashed.status, crashed.out.c_str(), crashed.err.c_str());
  }

  std::printf("%u as expected, %u wrong\n", found, wrong);
  return wrong == 0 ? 0 : 1;
}
