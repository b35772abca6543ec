#pragma once
// binary_trees — trees that are built from the root down and freed from the leaves up, while one lives on: Boehm's GCBench, and the
// Computer Language Benchmarks Game's binary-trees. The nodes of a tree are freed in another order than they lie in.
#include "core/run.hpp"
#include "core/tagged_links.hpp"

namespace polder::bench {

struct binary_trees {
  static constexpr parameter parameters[] = {
      {"depth", 18, 0, 26, "links",
       "from the root of the largest trees to each leaf, and of the tree that lives on"},
      {"least", 6, 0, 26, "links", "the same of the smallest"},
      {"step", 4, 1, 26, "links", "from one depth to the next"},
      {"trees", 5, 1, 1'000'000, "trees",
       "of the largest depth; of each smaller one so many that their nodes are as many"},
      {"size", 32, tagged_links::least, 1 << 20, "bytes", "of a node"},
  };
  static constexpr preset presets[] = {
      {"quick", "shorter", "depth=17 least=5 trees=2"},
      {"smoke", "for tests", "depth=8 least=2 step=3 trees=2"},
  };
  static constexpr workload_info info{
      .name = "binary_trees",
      .title = "Binary trees",
      .paper = "Boehm, GCBench; the Computer Language Benchmarks Game",
      .what =
          "Each thread builds trees of small nodes and frees them from the leaves up, large ones and small ones.",
      .shows = "Whether memory that was freed in another order than it lies in is as fast to have again.",
      .parameters = parameters,
      .presets = presets,
      .group = "field",
  };

  using byte = unsigned char;

  struct forester {
    worker& w;
    const std::size_t size;

    static std::uint16_t tag(std::uint64_t key) {
      return static_cast<std::uint16_t>(key * 0x9e3779b97f4a7c15u >> 48);
    }

    // Nodes are numbered in the order in which they are made: a tree of depth d has 2^(d+1) - 1.
    static std::uint64_t right_of(std::uint64_t key, unsigned depth) { return key + (std::uint64_t{1} << depth); }

    byte* plant(unsigned depth, std::uint64_t key) {
      auto* const node = static_cast<byte*>(w.checked(opaque(heap.malloc(size)), size));
      w.took(size);
      tagged_links l{};
      if (depth != 0) {
        l.left = plant(depth - 1, key + 1);
        l.right = plant(depth - 1, right_of(key, depth));
      }
      l.write(node, size, tag(key));
      return node;
    }

    void fell(byte* node, unsigned depth, std::uint64_t key) {
      tagged_links l;
      if (!l.read(node, size, tag(key))) [[unlikely]]
        w.of->fail("node %p was overwritten while in use", static_cast<const void*>(node));
      if (depth != 0) {
        fell(l.left, depth - 1, key + 1);
        fell(l.right, depth - 1, right_of(key, depth));
      }
      heap.free(node);
      w.gave(size);
    }
  };

  static void execute(run& r) {
    const auto depth = static_cast<unsigned>(r.with["depth"]);
    const auto least = static_cast<unsigned>(r.with["least"]);
    const auto step = static_cast<unsigned>(r.with["step"]);
    const auto trees = static_cast<std::uint64_t>(r.with["trees"]);
    const std::size_t size = r.with.size("size");
    if (least > depth) r.reject("'least' is above 'depth'");

    r.measure([&](worker& w) {
      forester f{w, size};
      const std::uint64_t before = w.allocations + w.frees;
      const std::uint64_t key = w.next_key();
      byte* const lives_on = f.plant(depth, key);
      for (unsigned d = least; d <= depth; d += step)
        for (std::uint64_t i = 0; i != trees << (depth - d); ++i) {
          const std::uint64_t its = w.next_key();
          f.fell(f.plant(d, its), d, its);
        }
      f.fell(lives_on, depth, key);
      w.operations += w.allocations + w.frees - before;
    });
  }
};

}  // namespace polder::bench
