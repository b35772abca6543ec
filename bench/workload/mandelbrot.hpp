#pragma once
// mandelbrot — a picture in blocks of 4 x 4 pixels that pass through one collection: Kirsch, Lippautz and Payer, PaCT 2013.
//
// Producers put the numbers of blocks; consumers take them and compute. Blocks take from a few to some thousand steps.
#include <bit>
#include <cstdio>
#include <string>

#include "collection/balance.hpp"
#include "collection/chosen.hpp"
#include "core/run.hpp"

namespace polder::bench {

struct mandelbrot {
  static constexpr parameter own_parameters[] = {
      {"pixels", 512, 4, 1 << 14, "pixels", "of a side, a multiple of 4"},
      {"limit", 250, 1, 1'000'000, "steps", "of a pixel that does not escape"},
      {"consumers", 4, 1, 64, "threads", "for one producer"},
  };
  static constexpr auto parameters = collection_choice::and_also(own_parameters);
  static constexpr preset presets[] = {
      {"kfifo-low", "Kirsch and others 2013: little work in a block", "limit=50"},
      {"kfifo-high", "the same, much work", "limit=2000"},
      {"quick", "smaller", "pixels=256"},
      {"smoke", "for tests", "pixels=64 limit=50"},
  };
  static constexpr workload_info info{
      .name = "mandelbrot",
      .title = "Mandelbrot in blocks",
      .paper = "Kirsch et al. 2013, sec. 5",
      .what =
          "Producers put blocks of a picture into one queue, stack or pool; four times as many consumers compute "
          "them.",
      .shows = "What a structure adds to small pieces of real work, whose length nobody knows before.",
      .parameters = parameters,
      .presets = presets,
      .group = "structures",
  };

  static void execute(run& r) {
    const std::size_t side = r.with.size("pixels");
    if (side % 4 != 0) r.reject("'pixels' is not a multiple of 4");
    const auto limit = static_cast<unsigned>(r.with["limit"]);
    const std::size_t blocks = side / 4 * (side / 4);
    const unsigned producers =
        r.threads == 1 ? 1 : std::max(1u, r.threads / (1 + static_cast<unsigned>(r.with["consumers"])));
    const auto collection = collection_choice::open(
        r, {.elements = blocks, .putters = producers, .getters = r.threads, .asks_in_vain = true});
    element_balances balances(r.threads);
    mapped_array<std::uint32_t> picture(side * side);
    std::atomic<std::size_t> next{0}, left{blocks};

    collection_choice::record(r);
    r.measure([&](worker& w) {
      element_hands hands(*collection, balances.of(w.id));
      collection->enter_thread();
      if (w.id < producers) {
        for (std::size_t b; (b = next.fetch_add(1, std::memory_order_relaxed)) < blocks;) hands.put(b);
      }
      // Who has put the last helps the others.
      patience idle;
      while (left.load(std::memory_order_relaxed) != 0) {
        std::uint64_t b = 0;
        if (!hands.try_get(b)) {
          idle.wait();
          continue;
        }
        idle.reset();
        paint(picture, side, limit, static_cast<std::size_t>(b));
        left.fetch_sub(1, std::memory_order_relaxed);
        ++w.operations;
      }
      w.stop_clock();
      collection->leave_thread();
    });

    balances.check(r);
    check(r, picture, side, limit);
    if (!r.picture.empty() && !write(picture, side, limit, r.picture)) r.fail("the picture cannot be written");
    collection_choice::close(r, *collection);
  }

 private:
  static unsigned steps(double re, double im, unsigned limit) {
    double x = 0, y = 0;
    unsigned n = 0;
    for (; n != limit && x * x + y * y < 4; ++n) {
      const double next = x * x - y * y + re;
      y = 2 * x * y + im;
      x = next;
    }
    return n;
  }
  static unsigned pixel(std::size_t side, unsigned limit, std::size_t x, std::size_t y) {
    const double scale = 3.0 / static_cast<double>(side);
    return steps(static_cast<double>(x) * scale - 2.25, static_cast<double>(y) * scale - 1.5, limit);
  }
  static void paint(mapped_array<std::uint32_t>& picture, std::size_t side, unsigned limit, std::size_t block) {
    const std::size_t across = side / 4, left = block % across * 4, top = block / across * 4;
    for (std::size_t y = top; y != top + 4; ++y) {
      for (std::size_t x = left; x != left + 4; ++x) picture[y * side + x] += pixel(side, limit, x, y) + 1;
    }
  }
  // Each pixel was painted once: a sample is computed again, and none was left out or painted twice.
  static void check(run& r, const mapped_array<std::uint32_t>& picture, std::size_t side, unsigned limit) {
    for (std::size_t i = 0; i != picture.size(); ++i) {
      const bool looks = i % 61 == 0;
      if (picture[i] == 0 || picture[i] > limit + 1 ||
          (looks && picture[i] != pixel(side, limit, i % side, i / side) + 1))
        r.fail("pixel %zu is wrong", i);
    }
  }
  // A portable greymap.
  static bool write(const mapped_array<std::uint32_t>& picture, std::size_t side, unsigned limit,
                    std::string_view name) {
    std::FILE* const file = std::fopen(std::string(name).c_str(), "wb");
    if (file == nullptr) return false;
    std::fprintf(file, "P5\n%zu %zu\n255\n", side, side);
    const auto widest = static_cast<std::uint32_t>(std::bit_width(limit));
    for (const std::uint32_t n : picture)
      std::fputc(
          n > limit ? 0 : static_cast<int>(255 * (widest - static_cast<std::uint32_t>(std::bit_width(n))) / widest),
          file);
    const bool whole = std::ferror(file) == 0;
    return std::fclose(file) == 0 && whole;
  }
};

}  // namespace polder::bench
