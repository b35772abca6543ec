#pragma once
// explore — runs a Relacy test, prints how many executions it explored, and judges the outcome.
//
//   passes      no execution may fail, and at least `floor` executions must have been explored
//   must_fail   some execution must fail; prints which, and how
//
// Searches are deterministic: an execution is known by its number. POLDER_MODEL_TIMES=k explores k times as many random
// executions (for long runs by hand). POLDER_TEST_FULL=1, which `./polder test --full` sets: all random executions of every
// plan instead of a quarter of them, all its switches, and the searches that a model keeps for it (is_full_form).
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include <polder/sync/atomic.hpp>

#include "../full_form.hpp"
#include "explorer.hpp"

namespace polder::model {

enum class search {
  random,    // executions of a random scheduler, as many as asked for
  bounded,   // every execution with at most `switches` preemptions
  complete,  // every execution
};

struct plan {
  const char* title;
  search how = search::random;
  rl::iteration_t executions = 20'000;  // random only: how many
  rl::iteration_t floor = 0;            // fewer is a failure of the test; random only, 0: as many as were asked for
  unsigned switches = 2;
  unsigned in_short = 0;  // switches in the short form, where all of them take minutes; 0: as many
  membarrier_world world = membarrier_world::paired;
};

// Every execution with three preemptions, which takes minutes; in the short form with two.
inline plan deep(const char* title, rl::iteration_t floor, membarrier_world w = membarrier_world::paired) {
  return {.title = title, .how = search::bounded, .floor = floor, .switches = 3, .in_short = 2, .world = w};
}

// The plan in this form of the tests.
inline plan in_this_form(plan p) {
  if (is_full_form()) return p;
  if (p.in_short != 0) p.switches = p.in_short;
  if (p.how == search::random) p.executions = (p.executions + 3) / 4, p.floor /= 4;
  return p;
}

namespace exploring {

struct outcome {
  rl::test_result_e result;
  rl::iteration_t executions;
  std::string log;
};

template <class Test>
outcome run(const plan& p) {
  membarrier = p.world;
  rl::test_params params;
  rl::ostringstream log;  // Relacy replaces operator new while it runs; this one keeps out of its way
  params.output_stream = &log;
  params.progress_stream = &log;
  params.iteration_count = p.executions;
  params.execution_depth_limit = 10'000;
  params.context_bound = p.switches;
  switch (p.how) {
    case search::random: params.search_type = rl::random_scheduler_type; break;
    case search::bounded: params.search_type = rl::fair_context_bound_scheduler_type; break;
    case search::complete: params.search_type = rl::fair_full_search_scheduler_type; break;
  }
  if (p.how == search::random) {
    if (const char* times = std::getenv("POLDER_MODEL_TIMES"))
      params.iteration_count *= std::strtoul(times, nullptr, 10);
  }
  explore<Test::params::thread_count>(without_type<Test>, params);
  const auto said = log.str();
  std::string text(said.data(), said.size());
  for (char& c : text) {
    if (c == 0 || c == 1) c = char('0' + c);  // words of one byte, such as bool, are written as characters
  }
  return {params.test_result, params.stop_iteration, std::move(text)};
}

inline const char* describe(const plan& p) {
  static char text[96];
  const char* world = p.world == membarrier_world::paired ? "" : ", membarrier systemwide";
  if (p.how == search::random) std::snprintf(text, sizeof text, "random%s", world);
  if (p.how == search::bounded) std::snprintf(text, sizeof text, "all with <= %u switches%s", p.switches, world);
  if (p.how == search::complete) std::snprintf(text, sizeof text, "all%s", world);
  return text;
}

}  // namespace exploring

template <class Test>
bool passes(const plan& planned) {
  const plan p = in_this_form(planned);
  const auto [result, executions, log] = exploring::run<Test>(p);
  const rl::iteration_t floor = p.how == search::random && p.floor == 0 ? p.executions : p.floor;
  std::printf("model %-44s %d threads  %9llu executions (%s)", p.title, int(Test::params::thread_count),
              static_cast<unsigned long long>(executions), exploring::describe(p));
  if (result != rl::test_result_success) {
    std::printf("  VIOLATION: %s\n%s\n", rl::test_result_str(result), log.c_str());
    if (weak.line != 0) std::exit(1);  // that was all there was to see
    return false;
  }
  if (floor == 0) {
    std::printf("  NO FLOOR: a search that is not random says how many executions there must be at least\n");
    return false;
  }
  if (executions < floor) {
    std::printf("  TOO FEW: at least %llu are expected\n", static_cast<unsigned long long>(floor));
    return false;
  }
  std::printf("  ok\n");
  std::fflush(stdout);
  return true;
}

template <class Test>
bool must_fail(const plan& p, rl::test_result_e expected = rl::test_result_user_assert_failed) {
  const auto [result, executions, log] = exploring::run<Test>(p);
  std::printf("model %-44s %d threads  ", p.title, int(Test::params::thread_count));
  if (result == rl::test_result_success) {
    std::printf("NO VIOLATION in %llu executions, though there is one to be found\n",
                static_cast<unsigned long long>(executions));
    return false;
  }
  std::printf("violation found in execution %llu (%s): %s\n", static_cast<unsigned long long>(executions),
              exploring::describe(p), rl::test_result_str(result));
  if (std::getenv("POLDER_MODEL_HISTORY")) std::printf("%s\n", log.c_str());
  std::fflush(stdout);
  return result == expected;
}

}  // namespace polder::model

// A condition of a model; says where it was broken and stops the execution.
#define POLDER_MODEL_CHECK(...) RL_ASSERT(__VA_ARGS__)
