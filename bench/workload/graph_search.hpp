#pragma once
// graph_search — the vertices of a graph that still have to be looked at lie in one collection: the spanning tree and the
// transitive closure of the k-FIFO and distributed-queue papers, breadth-first search and shortest paths.
//
//   spanning_tree       who reaches a vertex first is its parent
//   transitive_closure  which of 64 roots reach a vertex; a vertex is looked at again when another has
//   bfs, shortest_path  distances from one root, corrected until none falls: the better the order, the less is done twice
#include <queue>
#include <vector>

#include "collection/balance.hpp"
#include "collection/chosen.hpp"
#include "collection/graph.hpp"
#include "core/run.hpp"

namespace polder::bench {

struct graph_search {
  static constexpr parameter own_parameters[] = {
      {"search", 0, 0, 0, "", "what is looked for", "spanning_tree|transitive_closure|bfs|shortest_path"},
      {"shape", 0, 0, 0, "", "edges drawn alike, or the streets of a town", "random|grid"},
      {"vertices", 20'000, 64, 100'000'000, "vertices", "of a grid: the square below it"},
      {"edges", 1'000'000, 1, 1'000'000'000, "edges", "of a random graph"},
  };
  static constexpr auto parameters = collection_choice::and_also(own_parameters);
  static constexpr preset presets[] = {
      {"dq-spanning-tree", "Haas and others 2013: 100,000 vertices, 10 million edges",
       "search=spanning_tree vertices=100000 edges=10000000"},
      {"dq-spanning-tree-scaled", "the same with a tenth of the edges",
       "search=spanning_tree vertices=100000 edges=1000000"},
      {"dq-transitive-closure", "Haas and others 2013: 100,000 vertices, 10 million edges",
       "search=transitive_closure vertices=100000 edges=10000000"},
      {"dq-transitive-closure-scaled", "the same with a tenth of the edges",
       "search=transitive_closure vertices=100000 edges=1000000"},
      {"roads-bfs", "breadth first through a town", "search=bfs shape=grid vertices=250000"},
      {"roads-shortest-path", "shortest paths through a town", "search=shortest_path shape=grid vertices=40000"},
      {"quick", "shorter", "vertices=20000 edges=300000"},
      {"smoke", "for tests", "vertices=500 edges=3000"},
  };
  static constexpr workload_info info{
      .name = "graph_search",
      .title = "Searches of a graph",
      .paper = "Haas et al. 2013, sec. 5.2; Kirsch et al. 2013",
      .what = "Threads take vertices out of one queue, stack or pool and put in those that they lead to.",
      .shows = "Whether a relaxed order pays: what it saves at the ends, against what is looked at in vain.",
      .parameters = parameters,
      .presets = presets,
      .group = "structures",
  };

  static void execute(run& r) {
    const std::size_t vertices = r.with.size("vertices");
    const graph g = r.with.word("shape") == "grid" ? graph::grid_of(vertices, r.seed)
                                                   : graph::random_of(vertices, r.with.size("edges"), r.seed);
    const std::string_view search = r.with.word("search");
    // A vertex is put again each time its word falls: a bound for what one run may put.
    const auto collection = collection_choice::open(
        r, {.elements = 16 * g.size(), .putters = r.threads, .getters = r.threads, .asks_in_vain = true});
    if (search == "spanning_tree") spanning_tree(r, g, *collection);
    else if (search == "transitive_closure") closure(r, g, *collection);
    else distances(r, g, *collection, search == "shortest_path");
    collection_choice::close(r, *collection);
  }

 private:
  using words = mapped_array<std::atomic<std::uint64_t>>;
  static constexpr std::uint64_t none = ~std::uint64_t{0};

  // Looks at what is in the collection, and at what look(v, put) puts in, until nothing is left. Operations are the graph's
  // vertices, however often one is looked at: else who looks in vain would have the more of them, each in less time.
  template <class Look>
  static void all_of(run& r, const graph& g, any_collection& c, const std::vector<std::uint64_t>& first,
                     Look look) {
    element_balances balances(r.threads);
    std::atomic<std::uint64_t> left{first.size()};  // inside, or being looked at
    std::atomic<std::uint64_t> empty{0}, looks{0};
    collection_choice::record(r);
    r.measure([&](worker& w) {
      element_hands hands(c, balances.of(w.id));
      c.enter_thread();
      for (std::size_t i = w.id; i < first.size(); i += r.threads) hands.put(first[i]);
      const auto put = [&](std::uint64_t v) {
        left.fetch_add(1, std::memory_order_relaxed);
        hands.put(v);
      };
      if (w.id == 0) w.operations += g.size();
      std::uint64_t looked = 0;
      patience idle;
      while (left.load(std::memory_order_acquire) != 0) {  // sync: search-done
        std::uint64_t v = 0;
        if (!hands.try_get(v)) {
          idle.wait();
          continue;
        }
        idle.reset();
        look(v, put);
        ++looked;
        left.fetch_sub(1, std::memory_order_release);  // sync: search-done
      }
      w.stop_clock();
      empty.fetch_add(hands.empty(), std::memory_order_relaxed);
      looks.fetch_add(looked, std::memory_order_relaxed);
      c.leave_thread();
    });
    balances.check(r);
    r.tell("looks", static_cast<double>(looks.load(std::memory_order_relaxed)));
    r.tell("said_empty", static_cast<double>(empty.load(std::memory_order_relaxed)));
  }

  static void spanning_tree(run& r, const graph& g, any_collection& c) {
    words parent(g.size(), none);
    parent[0].store(0, std::memory_order_relaxed);
    all_of(r, g, c, {0}, [&](std::uint64_t v, auto put) {
      for (const graph::edge& e : g.from(v)) {
        std::uint64_t expected = none;
        if (parent[e.to].load(std::memory_order_relaxed) == none &&
            parent[e.to].compare_exchange_strong(expected, v, std::memory_order_relaxed))
          put(e.to);
      }
    });
    const std::vector<std::uint64_t> reached = reach(g);
    for (std::size_t v = 0; v != g.size(); ++v) {
      const std::uint64_t p = parent[v].load(std::memory_order_relaxed);
      if ((p != none) != (reached[v] != none)) r.fail("vertex %zu is not in the tree, or cannot be", v);
      if (p == none || v == 0) continue;
      bool joined = false;
      for (const graph::edge& e : g.from(p)) joined |= e.to == v;
      if (!joined) r.fail("vertex %zu and its parent are not joined", v);
    }
  }

  static void closure(run& r, const graph& g, any_collection& c) {
    words roots(g.size());
    std::vector<std::uint64_t> first;
    for (std::uint64_t i = 0; i != 64; ++i) {
      const std::uint64_t v = i * (g.size() / 64);
      roots[v].store(std::uint64_t{1} << i, std::memory_order_relaxed);
      first.push_back(v);
    }
    all_of(r, g, c, first, [&](std::uint64_t v, auto put) {
      const std::uint64_t mine = roots[v].load(std::memory_order_relaxed);
      for (const graph::edge& e : g.from(v)) {
        if ((mine & ~roots[e.to].load(std::memory_order_relaxed)) != 0 &&
            (mine & ~roots[e.to].fetch_or(mine, std::memory_order_relaxed)) != 0)
          put(e.to);
      }
    });
    // Edges go both ways, so whatever is joined has the same roots.
    for (std::size_t v = 0; v != g.size(); ++v) {
      for (const graph::edge& e : g.from(v)) {
        if (roots[v].load(std::memory_order_relaxed) != roots[e.to].load(std::memory_order_relaxed))
          r.fail("vertex %zu and one that it leads to are not reached from the same roots", v);
      }
    }
    for (const std::uint64_t v : first) {
      if ((roots[v].load(std::memory_order_relaxed) >> (v / (g.size() / 64)) & 1) == 0) r.fail("a root is lost");
    }
  }

  static void distances(run& r, const graph& g, any_collection& c, bool weighed) {
    words distance(g.size(), none);
    distance[0].store(0, std::memory_order_relaxed);
    const auto length = [&](const graph::edge& e) { return weighed ? std::uint64_t{e.weight} : 1; };
    all_of(r, g, c, {0}, [&](std::uint64_t v, auto put) {
      const std::uint64_t mine = distance[v].load(std::memory_order_relaxed);
      for (const graph::edge& e : g.from(v)) {
        std::uint64_t now = distance[e.to].load(std::memory_order_relaxed);
        while (mine + length(e) < now) {
          if (!distance[e.to].compare_exchange_weak(now, mine + length(e), std::memory_order_relaxed)) continue;
          put(e.to);
          break;
        }
      }
    });
    const std::vector<std::uint64_t> known = weighed ? shortest(g) : reach(g);
    std::uint64_t reached = 0;
    for (std::size_t v = 0; v != g.size(); ++v) {
      reached += known[v] != none;
      if (distance[v].load(std::memory_order_relaxed) != known[v]) r.fail("the distance of vertex %zu is wrong", v);
    }
    r.tell("reached", static_cast<double>(reached));
  }

  // By one thread: how many edges from vertex 0.
  static std::vector<std::uint64_t> reach(const graph& g) {
    std::vector<std::uint64_t> distance(g.size(), none);
    std::vector<std::uint32_t> open{0};
    distance[0] = 0;
    for (std::size_t at = 0; at != open.size(); ++at) {
      for (const graph::edge& e : g.from(open[at])) {
        if (distance[e.to] != none) continue;
        distance[e.to] = distance[open[at]] + 1;
        open.push_back(e.to);
      }
    }
    return distance;
  }
  // By one thread: Dijkstra's.
  static std::vector<std::uint64_t> shortest(const graph& g) {
    std::vector<std::uint64_t> distance(g.size(), none);
    using entry = std::pair<std::uint64_t, std::uint32_t>;
    std::priority_queue<entry, std::vector<entry>, std::greater<>> open;
    distance[0] = 0;
    open.emplace(0, 0);
    while (!open.empty()) {
      const auto [d, v] = open.top();
      open.pop();
      if (d != distance[v]) continue;
      for (const graph::edge& e : g.from(v)) {
        if (d + e.weight >= distance[e.to]) continue;
        distance[e.to] = d + e.weight;
        open.emplace(distance[e.to], e.to);
      }
    }
    return distance;
  }
};

}  // namespace polder::bench
