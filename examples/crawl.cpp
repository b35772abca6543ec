// crawl — four threads follow links between pages, each page once. What still has to be looked at lies in a queue; which pages
// are known, and how far each is from the first, in a map; buffers that are not in use, in a pool.
//
// A program of its own: build it over an installed Polder (CMakeLists.txt beside it).
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <polder/ds/queue/ms_queue.hpp>
#include <polder/ds/stack/treiber_stack.hpp>
#include <polder/ds/tree/hash_map.hpp>
#include <polder/smr/all.hpp>

namespace {

namespace ds = polder::ds;
using reclaimer = polder::smr::debra;  // docs/how-to/reclaim.md: which one should I use

constexpr std::uint64_t pages = 20'000;

// Stands for fetching a page: where its three links lead.
void links_of(std::uint64_t page, std::string& buffer, std::vector<std::uint64_t>& links) {
  buffer = "page " + std::to_string(page);
  links = {(page * 2 + 1) % pages, (page * 3 + 7) % pages, (page + 1) % pages};
}

struct visit {
  std::uint64_t page;
  unsigned distance;
};

}  // namespace

int main() {
  // One domain may serve any number of structures; it outlives them.
  reclaimer::domain domain;
  ds::ms_queue<visit, reclaimer> open(domain);
  ds::hash_map<std::uint64_t, unsigned, reclaimer> known(domain, pages);
  ds::treiber_stack<std::unique_ptr<std::string>, reclaimer> buffers(domain);

  std::atomic<std::uint64_t> left{1};  // pages that wait or are being looked at
  known.insert(0, 0);
  open.enqueue({0, 0});

  // Threads are not registered anywhere: they begin, and end.
  std::vector<std::thread> crew;
  for (int i = 0; i != 4; ++i) {
    crew.emplace_back([&] {
      std::vector<std::uint64_t> links;
      while (left.load() != 0) {
        const std::optional<visit> next = open.dequeue();
        if (!next) {
          std::this_thread::yield();
          continue;
        }
        std::unique_ptr<std::string> buffer = buffers.pop().value_or(nullptr);
        if (buffer == nullptr) buffer = std::make_unique<std::string>();
        links_of(next->page, *buffer, links);
        for (const std::uint64_t to : links) {
          if (!known.insert(to, next->distance + 1)) continue;  // somebody was here before
          left.fetch_add(1);
          open.enqueue({to, next->distance + 1});
        }
        buffers.push(std::move(buffer));
        left.fetch_sub(1);
      }
    });
  }
  for (std::thread& t : crew) t.join();

  domain.drain();  // everything that was retired is freed when this returns
  const bool all = known.size_slow() == pages && !open.dequeue() && domain.statistics().unreclaimed() == 0;
  std::printf("%zu pages, %s\n", known.size_slow(), all ? "each once" : "not all");
  return all ? 0 : 1;
}
