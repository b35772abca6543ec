#include <polder/mem/run_samples.hpp>

#include <algorithm>

#include <polder/base/align.hpp>
#include <polder/os/pages.hpp>
#include <polder/os/resident_pages.hpp>

namespace polder::mem {
namespace {

// An eighth of a chunk: a single vector with room to grow says nothing of the others.
constexpr std::size_t enough = chunk_size / 8;

// Of the last few chunks those in huge pages are looked at, a few runs of each, and a few pages of these.
constexpr unsigned few_runs = 8, few_pages = 4;
constexpr chunk_number few_chunks = 8;
constexpr std::size_t huge_page = chunk_size / 2;
constexpr std::size_t nearly_all = 4;  // times the rest

// Bytes of runs that are touched somewhere.
struct seen {
  std::size_t sparse = 0, dense = 0;

  bool suffices() const { return std::max(sparse, dense) >= enough; }
  seen& operator+=(const seen& more) { return sparse += more.sparse, dense += more.dense, *this; }
};

// Calls f(first grain, length) for each run of a chunk, or what of it lies in there.
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
    if (is_run) f(c * grains_per_chunk + from, at - from);
  }
}

// What pages hold. One that is not there is not read: that would bring in a page of zeroes, of which nobody can tell that it was never
// written to, or a huge one, which most kernels split when it is.
class contents {
 public:
  // comes_with: bytes around the page, of which all is there or nothing.
  bool is_zero(const std::byte* page, std::size_t comes_with) {
    const std::uintptr_t whole = align_down(address(page), comes_with);
    if (whole != there_) {
      const std::size_t n = resident_.count(page, os::page_size());
      if (n != 1) return n == 0;
      there_ = whole;
    }
    // A page of numbers has one soon, whichever half of a word they fill.
    for (const std::size_t at : {0, 4, 1032, 1036, 2064, 2068, 3096, 3100})
      if (!os::reads_as_zero(page + at)) return false;
    return true;
  }
  std::size_t pages_there(const std::byte* p, std::size_t bytes) const { return resident_.count(p, bytes); }

 private:
  os::resident_pages resident_;
  std::uintptr_t there_ = 0;  // where it was looked last
};

// Whether what is empty of the run at g, or of the part of one that begins there, is not about to be filled, as far as anybody can
// tell: it was asked for as zeroes, or its beginning is used.
bool may_stay_empty(const arena& a, contents& in, grain g) {
  const auto word = [&](grain at) { return a.words()[at].load(order::relaxed); };
  grain first = g;
  while (first != 0 && word(first) == 0 && g - first < longest_run) --first;
  if (!mem::word::is_run(word(first))) return false;
  return a.run_at(first).as_zeroes.glimpse() == 1 ||
         (first != g && !in.is_zero(a.address_of(first), os::page_size()));
}

// What is there of the runs in a chunk with small pages.
seen look_at(const arena& a, chunk_number c) {
  seen s;
  contents in;
  for_each_run_in(a, c, [&](grain first, unsigned n) {
    const std::size_t bytes = n * grain_size;
    const std::size_t there = in.pages_there(a.address_of(first), bytes);
    if (there == os::resident_pages::unknown || (there == 0 && !may_stay_empty(a, in, first))) return;
    (2 * there * os::page_size() < bytes ? s.sparse : s.dense) += bytes;
  });
  return s;
}

// The same by contents, in one with huge pages, where all that came with a page is there; of many runs as the first few are. It ends
// where they are not nearly all sparse, and a run's look where it is dense: each page is a system call or more.
seen look_into(const arena& a, contents& in, chunk_number c) {
  seen s;
  unsigned runs = 0, dense_runs = 0;
  std::size_t seen_of = 0, all = 0;
  for_each_run_in(a, c, [&](grain first, unsigned n) {
    const std::size_t bytes = n * grain_size;
    all += bytes;
    if (runs++ >= few_runs || dense_runs == few_runs / nearly_all) return;
    seen_of += bytes;
    const auto is_used = [&](unsigned i) {
      const std::byte* const page = a.address_of(first) + align_down(i * bytes / few_pages, a.page());
      return !in.is_zero(page, huge_page);
    };
    unsigned used = is_used(0);
    if (used == 0 && !may_stay_empty(a, in, first)) return;  // nothing is there yet
    for (unsigned i = 1; i != few_pages && 2 * used < few_pages; ++i) used += is_used(i);
    if (2 * used < few_pages) {
      s.sparse += bytes;
    } else {
      s.dense += bytes;
      ++dense_runs;
    }
  });
  if (seen_of != 0) s = {s.sparse * all / seen_of, s.dense * all / seen_of};
  return s;
}

// Of the last few chunks: whether nearly all runs are so, and are much of what was had of the system. It looks as far as that may
// come out.
bool hold_little_but_zeroes(const arena& a) {
  const chunk_number open = a.main_open();
  const chunk_number from = open > few_chunks ? open - few_chunks : 0;
  seen s;
  contents in;
  const auto do_with = [&](std::size_t unseen) {
    const std::size_t sparse = s.sparse + unseen;
    return sparse >= (open - from) * chunk_size / 3 && sparse > nearly_all * s.dense;
  };
  for (chunk_number c = from; c != open && do_with((open - c) * chunk_size); ++c) {
    if (a.chunk(c).kind.load(order::relaxed) == page_kind::huge) s += look_into(a, in, c);
  }
  return do_with(0);
}

// Not even open, or empty, for a longer run that is about to have it.
bool is_being_filled(const arena& a, chunk_number c) {
  const chunk_number open = a.main_open();
  return c >= open || (a.chunk(c).taken.taken() == 0 && open - c < longest_run / grains_per_chunk);
}

}  // namespace

void run_samples::look(const arena& a) noexcept {
  const chunk_number from = latest_.load(order::relaxed), open = a.main_open();
  seen s;
  for (chunk_number c = from; c < open && c - from < few_chunks && !s.suffices(); ++c) {
    if (a.chunk(c).kind.load(order::relaxed) == page_kind::small) s += look_at(a, c);
  }
  if (!s.suffices()) return;
  const bool sparse = s.sparse > s.dense;
  belief_.store(sparse ? belief::sparse : belief::dense, order::relaxed);
  if (sparse) zeroes_mean_nothing_.store(false, order::relaxed);
  latest_.store(none, order::relaxed);
}

bool run_samples::say_huge_next(const arena& a) noexcept {
  look(a);
  switch (belief_.load(order::relaxed)) {
    case belief::dense:
      if (zeroes_mean_nothing_.load(order::relaxed) || !hold_little_but_zeroes(a)) return true;
      zeroes_mean_nothing_.store(true, order::relaxed);
      belief_.store(belief::trying, order::relaxed);
      break;
    case belief::trying:
      if (is_being_filled(a, latest_.load(order::relaxed))) return false;
      belief_.store(belief::dense, order::relaxed);
      return true;
    case belief::sparse: break;
  }
  latest_.store(a.main_open(), order::relaxed);
  return false;
}

}  // namespace polder::mem
