// How far from its order elements came out, of collections that give them back in orders known beforehand: the figures of the
// line, and that a run fails where less was promised. Each is played in a process of its own: this program, called by itself.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "child.hpp"
#include "collection/quality.hpp"
#include "workload/all.hpp"

namespace {

using namespace polder::bench;
using polder::ds::shape;

constexpr unsigned count = 10;

// Gives back what was put in, but in the order of its positions.
class arranged final : public any_collection {
 public:
  arranged(std::vector<unsigned> positions, order_promise promised) : positions_(positions), promised_(promised) {}
  bool put(std::uint64_t e) override { return inside_.push_back(e), true; }
  bool get(std::uint64_t& e) override {
    if (asked_++ % 2 == 0 || given_ == positions_.size())
      return false;  // every second time it says that it is empty
    e = inside_[positions_[given_++]];
    return true;
  }
  order_promise order() const override { return promised_; }

 private:
  std::vector<unsigned> positions_;
  order_promise promised_;
  std::vector<std::uint64_t> inside_;
  unsigned asked_ = 0;
  std::size_t given_ = 0;
};

struct played {
  const char* name;
  std::vector<unsigned> positions;
  order_promise promised;
  bool good;
  std::vector<std::string> says;
};

std::vector<unsigned> forwards() { return {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}; }
std::vector<unsigned> backwards() { return {9, 8, 7, 6, 5, 4, 3, 2, 1, 0}; }
std::vector<unsigned> last_first() { return {9, 0, 1, 2, 3, 4, 5, 6, 7, 8}; }
std::vector<unsigned> first_twice() { return {0, 0, 2, 3, 4, 5, 6, 7, 8, 9}; }

std::vector<played> all() {
  return {
      {"queue",
       forwards(),
       {shape::queue, 0},
       true,
       {"\"lateness_mean\":0,", "\"age_mean\":0,", "\"k_measured\":0,", "\"k_promised\":0", "\"as_stack\":0,"}},
      {"stack",
       backwards(),
       {shape::stack, 0},
       true,
       {"\"lateness_mean\":0,", "\"k_measured\":0,", "\"as_stack\":1,"}},
      {"relaxed",
       last_first(),
       {shape::queue, 9},
       true,
       {"\"lateness_mean\":0.900000000,", "\"lateness_max\":1,", "\"age_mean\":0.900000000,", "\"age_max\":9,",
        "\"k_measured\":9,", "\"k_promised\":9"}},
      {"too relaxed", last_first(), {shape::queue, 8}, false, {"an element overtook 9 others, and 8 are promised"}},
      {"no stack", forwards(), {shape::stack, 0}, false, {"an element overtook 9 others, and 0 are promised"}},
      {"unknown queue",
       backwards(),
       {shape::queue, std::nullopt},
       true,
       {"\"lateness_mean\":4.5000,", "\"k_measured\":9,"}},
      {"pool like a stack",
       backwards(),
       {shape::pool, std::nullopt},
       true,
       {"\"lateness_mean\":0,", "\"as_stack\":1"}},
      {"deque like a queue",
       last_first(),
       {shape::deque, std::nullopt},
       true,
       {"\"lateness_mean\":0.900000000,", "\"as_stack\":0"}},
      {"doubling", first_twice(), {shape::pool, std::nullopt}, false, {"came out more than once"}},
  };
}

int play(const played& p) {
  run r(settings(hand_over::info), {}, 1, 1, true);
  arranged of(p.positions, p.promised);
  quality looked(true, of, 1, count);
  r.measure([&](worker& w) {
    any_collection& view = looked.view(0);
    for (std::uint64_t i = 1; i <= count; ++i) view.put(i);
    std::uint64_t e = 0;
    for (unsigned i = 0; i != 2 * count; ++i) w.operations += view.get(e);
  });
  looked.tell(r);
  return r.finish();
}

}  // namespace

int main(int argc, char** argv) {
  unsigned wrong = 0;
  for (const played& p : all()) {
    if (argc == 2) {
      if (p.name == std::string(argv[1])) return play(p);
      continue;
    }
    const auto got = test::call("/proc/self/exe", {p.name});
    const bool told = std::all_of(p.says.begin(), p.says.end(), [&](const std::string& s) { return got.says(s); });
    if (told && (got.status == 0) == p.good && got.status <= 1) continue;
    ++wrong;
    std::printf("%s: status %d\n%s%s", p.name, got.status, got.out.c_str(), got.err.c_str());
  }
  arranged of({}, {});
  if (&quality(false, of, 1, count).view(0) != &of) ++wrong, std::printf("what is not asked for costs a call\n");
  std::printf("%u wrong\n", wrong);
  return wrong == 0 ? 0 : 1;
}
