// limits — of polder.h: how much the heap may hold, who is called when it is too little, and in which modes it works.
#include <polder.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <polder/heap/modes.hpp>
#include <polder/malloc/instance.hpp>
#include <polder/malloc/listener.hpp>
#include <polder/malloc/public.hpp>
#include <polder/os/errno_keeper.hpp>

namespace polder::face {
namespace {

template <class Heap>
concept limited = requires(Heap& h) { h.set_limit(std::size_t{}); };

// Who is told of the cap, and of the target.
constinit listener<int(std::size_t, void*)> of_limit;
constinit listener<void(std::size_t, void*)> of_target;

// f(target), unless the thread is in a callback. A free may come by here, and an allocation that is served: errno stays as it is.
template <class Called, class F>
bool call(const listener<Called>& who, F f) {
  const auto* const l = who.now();
  if (l == nullptr || this_thread.told) return false;
  const os::errno_keeper keep;
  this_thread.told = true;
  const bool again = f(*l);
  this_thread.told = false;
  return again;
}

[[maybe_unused]] bool ask(std::size_t wanted) {
  return call(of_limit, [wanted](const auto& l) { return l(wanted) != 0; });
}

[[maybe_unused]] void tell(std::size_t committed) {
  call(of_target, [committed](const auto& l) { return l(committed), false; });
}

template <class Called>
bool set(listener<Called>& who, Called* called, void* data) {
  return who.set(called, data, [](std::size_t bytes) { return instance.allocate(bytes); });
}

// What a function returns; f(heap) says whether it was done, where the heap has limits.
template <class F, class Heap = heap_instance>
int answer(F f, Heap& heap = instance) {
  if constexpr (limited<Heap>) return f(heap) ? 0 : ENOMEM;
  else return ENOTSUP;
}

template <class Heap>
int read_modes(Heap& of, struct polder_modes* into) {
  if constexpr (limited<Heap>) {
    if (into == nullptr || into->size < sizeof into->size) return EINVAL;
    const heap::modes m = of.read_modes();
    const struct polder_modes all = {
        .size = std::min(into->size, sizeof all),
        .page_size = m.page_size,
        .cgroup_limit = m.cgroup_limit,
        .membarrier = m.membarrier,
        .background = int(m.background),
        .background_error = m.background_error,
        .huge_pages = int(m.huge_pages),
    };
    std::memcpy(into, &all, all.size);
    return 0;
  } else {
    return ENOTSUP;
  }
}

static_assert(int(heap::background_mode::off) == POLDER_BACKGROUND_OFF &&
              int(heap::background_mode::waits) == POLDER_BACKGROUND_WAITS &&
              int(heap::background_mode::runs) == POLDER_BACKGROUND_RUNS &&
              int(heap::background_mode::refused) == POLDER_BACKGROUND_REFUSED);
static_assert(int(heap::huge_page_mode::off) == POLDER_HUGE_PAGES_OFF &&
              int(heap::huge_page_mode::system) == POLDER_HUGE_PAGES_SYSTEM &&
              int(heap::huge_page_mode::on) == POLDER_HUGE_PAGES_ON &&
              int(heap::huge_page_mode::large) == POLDER_HUGE_PAGES_LARGE &&
              int(heap::huge_page_mode::refused) == POLDER_HUGE_PAGES_REFUSED);

}  // namespace
}  // namespace polder::face

using namespace polder;
using namespace polder::face;

extern "C" {

POLDER_PUBLIC int polder_set_limit(size_t bytes) noexcept {
  return answer([bytes](auto& heap) { return heap.set_limit(bytes); });
}

POLDER_PUBLIC int polder_set_target(size_t bytes) noexcept {
  return answer([bytes](auto& heap) { return heap.set_target(bytes); });
}

POLDER_PUBLIC int polder_on_limit(int (*called)(size_t wanted, void* data), void* data) noexcept {
  return answer([=](auto& heap) { return set(of_limit, called, data) && heap.on_limit(ask); });
}

POLDER_PUBLIC int polder_on_target(void (*called)(size_t committed, void* data), void* data) noexcept {
  return answer([=](auto& heap) { return set(of_target, called, data) && heap.on_target(tell); });
}

POLDER_PUBLIC int polder_read_modes(struct polder_modes* into) noexcept { return read_modes(instance, into); }

}  // extern "C"
