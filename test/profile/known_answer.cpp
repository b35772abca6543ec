// Requirement 18: three sites ask for 90, 9 and 1 % of all bytes. What the profile estimates of each is within 5 % of what it had,
// of what was allocated and of what lives.
#include <cstdint>
#include <vector>

#include "sites.hpp"
#include "written.hpp"

using namespace polder;
using namespace polder::profile_test;

namespace {

constexpr std::size_t mean = 4096, total = std::size_t{1} << 30;

// Samples enough that 5 % are five standard deviations and more.
struct part {
  void* (*from)(std::size_t);
  std::size_t block;
  double share;
  std::size_t one_lives_of;
  double had = 0, live = 0;
};
part parts[] = {{first_site, 100, 0.90, 16}, {second_site, 5000, 0.09, 4}, {third_site, 30'000, 0.01, 4}};

void expect_near(double is, double estimated, const char* what, std::size_t site) {
  probe::say("site %zu, %s: %.1f MB, estimated %.1f", site, what, is / 1e6, estimated / 1e6);
  probe::expect(estimated > is * 0.95 && estimated < is * 1.05, "req 18: that is not within 5 %%");
}

}  // namespace

int main() {
  probe::expect(the_heap::profile_write(1, POLDER_PROFILE_BLOCKS) == ENODATA,
                "there is a profile that nobody asked for");
  probe::expect(the_heap::profile_start(mean) == 0, "polder_profile_start");
  probe::expect(the_heap::profile_start(mean + 1) == EBUSY, "two means");
  std::vector<void*> held;
  held.reserve(total / 90 / 8);
  for (part& p : parts) {
    const auto blocks = std::size_t(p.share * double(total) / double(p.block));
    for (std::size_t i = 0; i != blocks; ++i) {
      void* const q = p.from(p.block);
      p.had += double(p.block);
      if (i % p.one_lives_of == 0) held.push_back(q), p.live += double(p.block);
      else std::free(q);
    }
  }
  const written w = write_now(POLDER_PROFILE_BLOCKS);
  probe::expect(w.mean == mean, "the mean is %g", w.mean);
  for (std::size_t i = 0; i != 3; ++i) {
    expect_near(parts[i].had, w.drawn_bytes_of(sites[i]), "allocated", i);
    expect_near(parts[i].live, w.live_bytes_of(sites[i]), "live", i);
  }
  for (void* p : held) std::free(p);
  const written after = write_now(POLDER_PROFILE_BLOCKS);
  for (const site& s : sites) probe::expect(after.live_bytes_of(s) == 0, "something lives that was freed");
  probe::expect(the_heap::profile_stop() == 0, "polder_profile_stop");
  probe::expect(the_heap::profile_write(-1, POLDER_PROFILE_BLOCKS) == EBADF, "written to no file");
  probe::expect(the_heap::profile_write(1, 17) == EINVAL, "a kind that does not exist");
}
