#pragma once
// profile_text — a heap's profile in the form that pprof reads: a line for each stack, with live and all samples; then what
// is mapped where.
//
//   in malloc  yes; in a signal handler: yes
//
//   heap profile: LIVE: BYTES [ALL: BYTES] @ heap_v2/MEAN
//   LIVE: BYTES [ALL: BYTES] @ 0x5581c0de 0x7f…       as drawn: pprof knows how many each stands for by MEAN
//   heap profile: … @ heapprofile                      of waste: each line is what it says
#include <cstdint>

#include <polder/malloc/profile.hpp>
#include <polder/mem/heap_profile.hpp>
#include <polder/mem/poisson.hpp>
#include <polder/os/output.hpp>

namespace polder::face {

class profile_text {
 public:
  profile_text(const mem::heap_profile& of, int fd) noexcept : of_(of), to_(fd) {}

  // What lives and what was ever drawn. 0, or errno.
  int write_blocks() noexcept {
    counts all{};
    of_.sites.for_each([&](std::uint32_t n) {
      const counts c = of_.sites.of(n);
      all.live_blocks += c.live_blocks, all.live_bytes += c.live_bytes;
      all.drawn_blocks += c.drawn_blocks, all.drawn_bytes += c.drawn_bytes;
    });
    to_ << "heap profile: ";
    write(all);
    to_ << " @ heap_v2/" << of_.mean << '\n';
    of_.sites.for_each([&](std::uint32_t n) {
      const counts c = of_.sites.of(n);
      if (c.drawn_blocks == 0) return;
      write(c);
      write_stack(n);
    });
    return end();
  }

  // How much memory cannot be used because of the blocks from there (core::waste_beside), estimated for all blocks.
  // waste(sampled_block): bytes beside it.
  template <class Waste>
  int write_waste(Waste waste) noexcept {
    const auto each = [&](auto f) {
      of_.blocks.for_each([&](const mem::sampled_block& b) {
        const double stands_for = 1 / mem::chance_of_sample(b.bytes == 0 ? 1 : b.bytes, of_.mean);
        const auto blocks = std::uint64_t(stands_for + 0.5);
        if (const auto bytes = std::uint64_t(double(waste(b)) * stands_for))
          f(counts{blocks, bytes, blocks, bytes}, b.site);
      });
    };
    counts all{};
    each([&](const counts& c, std::uint32_t) {
      all.drawn_blocks = all.live_blocks += c.live_blocks;
      all.drawn_bytes = all.live_bytes += c.live_bytes;
    });
    to_ << "heap profile: ";
    write(all);
    to_ << " @ heapprofile\n";
    each([&](const counts& c, std::uint32_t site) {
      write(c);
      write_stack(site);
    });
    return end();
  }

 private:
  using sites = decltype(mem::heap_profile::sites);
  using counts = sites::counts;

  void write(const counts& c) noexcept {
    to_ << c.live_blocks << ": " << c.live_bytes << " [" << c.drawn_blocks << ": " << c.drawn_bytes << ']';
  }

  void write_stack(std::uint32_t site) noexcept {
    to_ << " @";
    bool outside = false;
    of_.sites.for_each_frame(site, [&](const void* frame) {
      outside = outside || !own_code.has(frame);
      if (outside) to_ << ' ' << frame;
    });
    to_ << '\n';
  }

  int end() noexcept {
    to_ << "\nMAPPED_LIBRARIES:\n";
    to_.copy_file("/proc/self/maps");
    return to_.finish();
  }

  const mem::heap_profile& of_;
  os::output to_;
};

}  // namespace polder::face
