#include <polder/mem/run_samples.hpp>

#include <algorithm>

#include <polder/os/pages.hpp>
#include <polder/os/resident_pages.hpp>

namespace polder::mem {
namespace {

// An eighth of a chunk: a single vector with room to grow says nothing of the others.
constexpr std::size_t enough = chunk_size / 8;

// Bytes of runs that are touched somewhere.
struct seen {
  std::size_t sparse = 0, dense = 0;
  bool blind = false;
};

// Calls f(position, length) for each run of a chunk, or what of it lies in there.
template <class F>
void for_each_run_in(const arena& a, chunk_number c, F f) {
  const std::uint64_t taken = a.chunk(c).taken.taken();
  const auto word = [&](unsigned at) { return a.words()[c * grains_per_chunk + at].load(order::relaxed); };
  const auto is_inside = [&](unsigned at) { return (taken >> at & 1) != 0 && word(at) == 0; };
  for (unsigned at = c == 0 ? 1 : 0; at != grains_per_chunk;) {
    const unsigned from = at;
    const bool is_run = (taken >> at & 1) != 0 && (mem::word::is_run(word(at)) || (at == 0 && word(0) == 0));
    ++at;
    while (is_run && at != grains_per_chunk && is_inside(at)) ++at;
    if (is_run) f(from, at - from);
  }
}

seen look_at(const arena& a, chunk_number c) {
  seen s;
  const os::resident_pages pages;
  for_each_run_in(a, c, [&](unsigned at, unsigned n) {
    const std::size_t bytes = n * grain_size;
    const std::size_t there = pages.count(a.address_of(c * grains_per_chunk + at), bytes);
    if (there == os::resident_pages::unknown) s.blind = true;
    if (there == 0 || there == os::resident_pages::unknown) return;
    (2 * there * os::page_size() < bytes ? s.sparse : s.dense) += bytes;
  });
  return s;
}

}  // namespace

bool run_samples::look(const arena& a) noexcept {
  const chunk_number c = latest_.load(order::relaxed);
  if (c >= a.main_open()) return true;  // none, or it is just being opened
  if (a.chunk(c).kind.load(order::relaxed) != page_kind::small)
    return false;  // another thread opened it, for something else
  const seen s = look_at(a, c);
  if (std::max(s.sparse, s.dense) < enough) return s.blind;
  belief_.store(s.sparse > s.dense ? belief::sparse : belief::dense, order::relaxed);
  latest_.store(none, order::relaxed);
  return true;
}

bool run_samples::say_huge_next(const arena& a) noexcept {
  const bool told = look(a);
  switch (belief_.load(order::relaxed)) {
    case belief::dense: return true;
    case belief::unseen:
      if (told) return true;
      belief_.store(belief::trying, order::relaxed);
      break;
    case belief::trying:
      if (latest_.load(order::relaxed) >= a.main_open()) return false;
      belief_.store(belief::dense, order::relaxed);
      return true;
    case belief::sparse: break;
  }
  latest_.store(a.main_open(), order::relaxed);
  return false;
}

}  // namespace polder::mem
