// Plays structures of the registry and checks what they promise; a line each, with what it took.
//   checker.run [threads] [operations] [structure|all] [prefill] [seed] [ticks|counter]
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <system_error>

#include "checker/lateness.hpp"
#include "checker/structures.hpp"

namespace {

using namespace polder;
using namespace polder::checker;

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <class Clock>
void price(Clock& clock) {
  constexpr unsigned n = 200'000;
  std::uint64_t sum = 0;
  const double before = seconds();
  for (unsigned i = 0; i != n; ++i) sum += clock.end() - clock.begin();
  const double each = (seconds() - before) / n * 1e9;
  std::printf("clock %s: %.0f ns for begin and end of nothing%s\n", Clock::name, each, sum == 1 ? " " : "");
}

template <class Clock>
bool run(const structure& s, plan p, Clock& clock) {
  const auto c = s.make();
  const std::size_t k = c->k();
  double from = seconds();
  const history h = play(*c, clock, p);
  const double played = seconds() - from;
  std::size_t events = 0;
  for (const std::vector<event>& part : h) events += part.size();
  from = seconds();
  const elements of = elements_of(h);
  const verdict v = kept(promised_by(s.info, k), of);
  const double checked = seconds() - from;
  const emptiness e = emptiness_of(of.all, of.empties);
  std::printf("%-28s %2u threads %9zu operations in %6.2f s, checked in %6.2f s: %s; empty %zu, wrongly %zu",
              s.name.c_str(), p.threads, events, played, checked, v ? "kept" : v.wrong.c_str(), e.asked, e.wrong);
  if (v && (s.info.kind == ds::shape::queue || s.info.kind == ds::shape::stack)) {
    from = seconds();
    const lateness l = lateness_of(of.all, s.info.kind == ds::shape::queue ? order_of::queue : order_of::stack);
    const auto print = [](const char* name, const distribution& d) {
      std::printf("; %s mean %.2f p50 %u p99 %u max %u", name, d.mean, d.p50, d.p99, d.max);
    };
    print("age", l.age), print("lateness", l.late);
    if (s.info.order == ds::semantics::k_out_of_order) std::printf("; k %zu", k);
    std::printf(" (%.2f s)", seconds() - from);
  }
  std::printf("\n");
  std::fflush(stdout);
  return v.holds();
}

// An argument that is a number, from..most; where it is not given, the value stays.
struct number {
  int place;
  std::uint64_t from, most, value;

  bool read(int argc, char** argv) {
    if (argc <= place) return true;
    const char* const text = argv[place];
    const char* const end = text + std::strlen(text);
    const auto [stopped, wrong] = std::from_chars(text, end, value);
    return wrong == std::errc() && stopped == end && value >= from && value <= most;
  }
};

int usage() {
  std::fputs(
      "usage: checker.run [threads] [operations] [structure|all] [prefill] [seed] [ticks|counter]\n"
      "threads: 1 to 1024; operations, of all of them: 1 to 1000000000; prefill and seed from 0\n",
      stderr);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr std::uint64_t many = 1'000'000'000;
  number threads{.place = 1, .from = 1, .most = 1024, .value = 2};
  number operations{.place = 2, .from = 1, .most = many, .value = 20'000};
  number prefill{.place = 4, .from = 0, .most = many, .value = 0};
  number seed{.place = 5, .from = 0, .most = UINT64_MAX, .value = 1};
  if (argc > 7) return usage();
  for (number* const n : {&threads, &operations, &prefill, &seed})
    if (!n->read(argc, argv)) return usage();
  const auto word = [&](int i, const char* otherwise) { return std::string(argc > i ? argv[i] : otherwise); };
  const std::string asked = word(3, "all");
  const std::string clock_name = word(6, ticks::agree() ? "ticks" : "counter");
  if (clock_name != "ticks" && clock_name != "counter") {
    std::fprintf(stderr, "no clock '%s'; there are ticks and counter\n", clock_name.c_str());
    return 2;
  }
  ticks ticking;
  counter counting;
  price(ticking), price(counting);
  std::printf("clock %s, seed %llu\n", clock_name.c_str(), static_cast<unsigned long long>(seed.value));
  bool good = true, found = false;
  for (const structure& s : structures()) {
    if (asked != "all" && asked != s.name) continue;
    found = true;
    plan p = s.planned(unsigned(threads.value), operations.value, seed.value);
    p.prefill = prefill.value;
    good &= clock_name == "ticks" ? run(s, p, ticking) : run(s, p, counting);
  }
  if (!found) {
    std::fprintf(stderr, "no structure '%s'; see ds/all.hpp\n", asked.c_str());
    return 2;
  }
  return good ? 0 : 1;
}
