#pragma once
// spatial_locality — scalloc sec. 7.6 (ACDC): how near to each other an allocator puts what is allocated together. Small
// objects form lists, which are read in the order of allocation, and trees, which are allocated depth-first from left to
// right and read depth-first from right to left. `memory=compact` is ACDC's baseline: each list or tree as one block,
// object after object.
#include "core/run.hpp"
#include "core/tagged_links.hpp"

namespace polder::bench {

struct spatial_locality {
  static constexpr parameter parameters[] = {
      {"lists", 60, 0, 100, "%", "of the collections are lists, the others trees"},
      {"min", 16, 16, 4096, "bytes", "smallest object"},
      {"max", 32, 16, 4096, "bytes", "greatest object"},
      {"nodes", 500, 1, 1'000'000, "objects", "of a collection"},
      {"collections", 100, 1, 100'000, "collections", "held by each thread"},
      {"renewed", 20, 0, 100'000, "collections", "freed and built anew in a cycle, chosen at random"},
      {"cycles", 400, 1, 1'000'000, "cycles", "of each thread"},
      {"passes", 2, 1, 10'000, "times", "that all objects are read in a cycle"},
      {"memory", 0, 0, 1, "", "a block for each object, or one for a collection", "heap|compact"},
  };
  static constexpr preset presets[] = {
      {"scalloc-fig11", "scalloc, figure 11 at 60 % lists, where the paper counts hardware events",
       "lists=60 min=16 max=32"},
      {"scalloc-fig11-trees", "figure 11 at its left end", "lists=0 min=16 max=32"},
      {"scalloc-fig11-lists", "figure 11 at its right end", "lists=100 min=16 max=32"},
      {"scalloc-fig11-20", "figure 11 at 20 % lists", "lists=20 min=16 max=32"},
      {"scalloc-fig11-40", "figure 11 at 40 % lists", "lists=40 min=16 max=32"},
      {"scalloc-fig11-80", "figure 11 at 80 % lists", "lists=80 min=16 max=32"},
      {"scalloc-fig11-compact-trees", "the baseline of figure 11 at 0 % lists",
       "lists=0 min=16 max=32 memory=compact"},
      {"scalloc-fig11-compact", "the baseline of figure 11 at 60 % lists", "lists=60 min=16 max=32 memory=compact"},
      {"scalloc-fig11-compact-lists", "the baseline of figure 11 at 100 % lists",
       "lists=100 min=16 max=32 memory=compact"},
      {"quick", "figure 11 at 60 % lists, shorter", "lists=60 min=16 max=32 cycles=120"},
      {"smoke", "for tests", "nodes=50 collections=10 renewed=3 cycles=10 passes=1"},
      {"smoke-compact", "for tests", "nodes=20 collections=40 renewed=20 cycles=10 passes=1 memory=compact"},
  };
  static constexpr workload_info info{
      .name = "spatial_locality",
      .title = "Spatial locality",
      .paper = "scalloc fig. 11 (ACDC)",
      .what = "Each thread builds lists and trees of small objects, reads them over and over, and replaces some.",
      .shows =
          "How fast memory is to read that the allocator has laid out: `access_seconds`, processor time of all "
          "threads, against that of the preset scalloc-fig11-compact.",
      .parameters = parameters,
      .presets = presets,
  };

  using byte = unsigned char;

  struct collection {
    byte* first = nullptr;
    std::uint64_t key = 0;
    std::size_t bytes = 0;  // of all its objects, as they lie in compact memory
    bool is_list = false;
  };

  // An object has two links beside a tag that tells which object of which collection it is. Lists use the left link alone.
  struct object {
    std::uint16_t tag;
    std::size_t size;
  };
  using links = tagged_links;

  // The work of one worker; its pointers are in harness memory.
  struct gardener {
    worker& w;
    byte** nodes;  // of one collection, in the order of allocation
    const std::size_t count;
    const std::size_t min;
    const std::size_t range;
    const bool compact;
    std::int64_t access_ns = 0;

    object at(const collection& c, std::size_t index) const {
      const std::uint64_t hash = (c.key + index) * 0x9e3779b97f4a7c15u;
      return {static_cast<std::uint16_t>(hash >> 48), min + ((hash >> 16 & 0xffff'ffff) * range >> 32)};
    }

    // Links in compact memory are aligned, and nothing else is spent.
    static std::size_t aligned(std::size_t size) { return (size + 7) / 8 * 8; }

    void allocate(collection& c) {
      c.key = w.next_key();
      c.bytes = 0;
      for (std::size_t i = 0; i < count; ++i) c.bytes += compact ? aligned(at(c, i).size) : at(c, i).size;
      const std::int64_t begin = now_ns();
      if (compact) {
        nodes[0] = static_cast<byte*>(opaque(heap.malloc(c.bytes)));
      } else {
        for (std::size_t i = 0; i < count; ++i) nodes[i] = static_cast<byte*>(opaque(heap.malloc(at(c, i).size)));
      }
      w.allocator_ns += now_ns() - begin;
      w.live += static_cast<std::int64_t>(c.bytes);
      w.allocations += compact ? 1 : count;
      if (compact) {
        w.checked(nodes[0], c.bytes);
        for (std::size_t i = 1; i < count; ++i) nodes[i] = nodes[i - 1] + aligned(at(c, i - 1).size);
      } else {
        for (std::size_t i = 0; i < count; ++i) w.checked(nodes[i], at(c, i).size);
      }
      c.first = nodes[0];
    }

    void write(const collection& c, std::size_t index, links l) {
      const auto [tag, size] = at(c, index);
      l.write(nodes[index], size, tag);
    }

    links read(const collection& c, const byte* node, std::size_t index) {
      const auto [tag, size] = at(c, index);
      links l;
      if (!l.read(node, size, tag)) [[unlikely]] {
        w.of->fail("object %p, number %zu of a %s, was overwritten while in use", static_cast<const void*>(node),
                   index, c.is_list ? "list" : "tree");
      }
      return l;
    }

    // A tree of n objects: the root, n / 2 to its left, the rest to its right; in this order.
    void plant(const collection& c, std::size_t index, std::size_t n) {
      const std::size_t left = n / 2;
      const std::size_t right = n - 1 - left;
      write(c, index, {left == 0 ? nullptr : nodes[index + 1], right == 0 ? nullptr : nodes[index + 1 + left]});
      if (left != 0) plant(c, index + 1, left);
      if (right != 0) plant(c, index + 1 + left, right);
    }

    template <class Visit>
    void visit_tree(const collection& c, byte* node, std::size_t index, std::size_t n, Visit visit) {
      const std::size_t left = n / 2;
      const std::size_t right = n - 1 - left;
      const links l = read(c, node, index);
      visit(node, index);
      if (right != 0) visit_tree(c, l.right, index + 1 + left, right, visit);
      if (left != 0) visit_tree(c, l.left, index + 1, left, visit);
    }

    template <class Visit>
    void visit_all(const collection& c, Visit visit) {
      if (!c.is_list) return visit_tree(c, c.first, 0, count, visit);
      byte* node = c.first;
      for (std::size_t i = 0; i < count; ++i) {
        const links l = read(c, node, i);
        visit(node, i);
        node = l.left;
      }
    }

    void build(collection& c) {
      allocate(c);
      if (!c.is_list) return plant(c, 0, count);
      for (std::size_t i = 0; i < count; ++i) write(c, i, {i + 1 == count ? nullptr : nodes[i + 1], nullptr});
    }

    // In the order of allocation.
    void clear(const collection& c) {
      visit_all(c, [&](byte* node, std::size_t index) { nodes[index] = node; });
      const std::size_t blocks = compact ? 1 : count;
      const std::int64_t begin = now_ns();
      for (std::size_t i = 0; i < blocks; ++i) heap.free(nodes[i]);
      w.allocator_ns += now_ns() - begin;
      w.live -= static_cast<std::int64_t>(c.bytes);
      w.frees += blocks;
      w.operations += 2 * blocks;
    }

    void access(collection* held, std::size_t collections) {
      const std::int64_t begin = thread_ns();
      for (std::size_t i = 0; i < collections; ++i) visit_all(held[i], [](byte*, std::size_t) {});
      access_ns += thread_ns() - begin;
    }
  };

  static void execute(run& r) {
    const std::size_t lists = r.with.size("lists");
    const std::size_t min = r.with.size("min");
    const std::size_t max = r.with.size("max");
    const std::size_t count = r.with.size("nodes");
    const std::size_t collections = r.with.size("collections");
    const auto renewed = r.with["renewed"];
    const auto cycles = r.with["cycles"];
    const auto passes = r.with["passes"];
    const bool compact = r.with.word("memory") == "compact";
    if (min > max) r.reject("'min' is above 'max'");
    mapped_array<collection> held(collections * r.threads);
    mapped_array<byte*> nodes(count * r.threads);
    std::atomic<std::int64_t> access_ns{0};

    r.measure([&](worker& w) {
      collection* mine = held.begin() + w.id * collections;
      gardener g{w, nodes.begin() + w.id * count, count, min, max - min + 1, compact};
      for (std::size_t i = 0; i < collections; ++i) {
        mine[i].is_list = (i + 1) * lists / 100 != i * lists / 100;  // spread evenly
        g.build(mine[i]);
      }
      for (std::int64_t cycle = 0; cycle < cycles; ++cycle) {
        for (std::int64_t pass = 0; pass < passes; ++pass) g.access(mine, collections);
        for (std::int64_t i = 0; i < renewed; ++i) {
          collection& c = mine[w.numbers.below(collections)];
          g.clear(c);
          g.build(c);
        }
      }
      for (std::size_t i = 0; i < collections; ++i) g.clear(mine[i]);
      access_ns.fetch_add(g.access_ns, std::memory_order_relaxed);
    });
    r.tell("access_seconds", static_cast<double>(access_ns.load(std::memory_order_relaxed)) / 1e9);
  }
};

}  // namespace polder::bench
