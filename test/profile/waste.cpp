// Requirement 19: memory that is free and cannot be given back, for in each span one block lives on. The profile of waste names the
// site that asked for these.
#include <vector>

#include "sites.hpp"
#include "written.hpp"

using namespace polder;
using namespace polder::profile_test;

int main() {
  // Nearly all blocks are drawn, and the profile has room for as many.
  constexpr std::size_t n = 512, rounds = 45'000;
  probe::expect(the_heap::profile_start(256) == 0, "polder_profile_start");
  std::vector<void*> survivors, others, busy;
  survivors.reserve(rounds), others.reserve(rounds), busy.reserve(rounds);
  for (std::size_t i = 0; i != rounds; ++i) {
    if (i % (65536 / n) == 0) survivors.push_back(first_site(n));
    else others.push_back(second_site(n));
  }
  for (void* p : others) std::free(p);
  // Memory that is used as it should be is nobody's waste.
  for (std::size_t i = 0; i != 20'000; ++i) busy.push_back(third_site(1000));
  const written waste = write_now(POLDER_PROFILE_WASTE);
  const double all = waste.live_bytes(), theirs = waste.live_bytes_of(sites[0]);
  probe::say("%.1f MB of waste, %.0f %% beside survivors of the first site, %.0f %% of the third", all / 1e6,
             100 * theirs / all, 100 * waste.live_bytes_of(sites[2]) / all);
  const double is = double(survivors.size()) * (65536 - double(n));
  probe::expect(theirs > 0.8 * all, "req 19: the survivors' site answers for less than 80 %%");
  probe::expect(theirs > 0.7 * is && theirs < 1.3 * is, "req 19: %.1f MB lie free beside the survivors", is / 1e6);
  for (void* p : survivors) std::free(p);
  for (void* p : busy) std::free(p);
}
