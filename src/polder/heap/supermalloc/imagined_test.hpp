#pragma once
// imagined — a machine of four sockets for tests, whose threads run where the test says; and a heap on it, worked by hand:
// caches are objects of the test, so one thread plays many and every count is exact.
#include <memory>

#include <polder/heap/hosted_test.hpp>
#include <polder/heap/supermalloc/sheets.hpp>

namespace polder::heap::supermalloc {

struct four_sockets {
  static constexpr unsigned per_socket = 8;
  static inline thread_local unsigned cpu = 0;
  static inline unsigned nodes = 1;

  void begin() noexcept {}
  unsigned cpus() const noexcept { return 4 * per_socket; }
  unsigned cpu_limit() const noexcept { return 4 * per_socket; }
  unsigned sockets() const noexcept { return 4; }
  unsigned homes() const noexcept { return nodes; }
  unsigned socket_of(unsigned c) const noexcept { return c / per_socket; }
  unsigned home_of(unsigned c) const noexcept { return c / per_socket; }
  unsigned current_cpu() const noexcept { return cpu; }
};

using by_processor = processors<four_sockets>;
using by_socket = sockets<four_sockets>;

template <class Lists, class Growth, class Spill, class Levels>
struct imagined_sheet : sheet<Lists, Growth, Spill, Levels> {
  static constexpr heap_info info{
      .name = "imagined", .title = "", .paper = "", .year = 0, .summary = "", .progress = ""};
};

using super0_there = imagined_sheet<short_lists, one_at_a_time, to_its_page, by_processor>;
using super1_there = imagined_sheet<short_lists, half_the_cache, to_its_page, by_processor>;
using super2_there = imagined_sheet<short_lists, half_the_cache, half_the_cache_back, by_processor>;
using super3_there = imagined_sheet<equal_lists, one_at_a_time, to_its_page, by_processor>;
using super4_there = imagined_sheet<equal_lists, half_the_cache, to_its_page, by_processor>;
using redesign_without_sockets = imagined_sheet<equal_lists, half_the_cache, half_the_cache_back, by_processor>;
using super_socket_there = imagined_sheet<equal_lists, half_the_cache, half_the_cache_back, by_socket>;
using super_prefill_there = imagined_sheet<equal_lists, doubling, half_the_cache_back, by_socket>;

template <class Sheet>
class by_hand {
 public:
  using front_type = typename Sheet::front;
  using cache = typename front_type::cache;
  static constexpr unsigned cpus = 4 * four_sockets::per_socket;

  explicit by_hand(unsigned nodes = 1, const options& o = hosted<Sheet>::usual())
      : caches_(new cache[cpus]()), heap_((four_sockets::nodes = nodes, o)) {
    heap_.free(heap_.allocate(1));
  }
  ~by_hand() {
    for (unsigned i = 0; i < cpus; ++i) on(i), it().leave(caches_[i]);
    on(0);
    four_sockets::nodes = 1;
  }

  front_type& it() { return heap_.front(); }
  hosted<Sheet>& heap() { return heap_; }
  cache& of(unsigned cpu) { return caches_[cpu]; }
  void* allocate(unsigned cpu, unsigned c) {
    on(cpu);
    return it().allocate(caches_[cpu], c);
  }
  void free(unsigned cpu, void* p) {
    on(cpu);
    it().deallocate(caches_[cpu], p, it().find(p));
  }
  level_traffic seen() { return it().seen(); }

 private:
  static void on(unsigned cpu) { four_sockets::cpu = cpu; }

  std::unique_ptr<cache[]> caches_;
  hosted<Sheet> heap_;
};

}  // namespace polder::heap::supermalloc
