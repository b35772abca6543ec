#include <polder/heap/supermalloc/chunk_source.hpp>

#include <bit>

#include <polder/os/numa.hpp>
#include <polder/os/pages.hpp>

namespace polder::heap::supermalloc {
namespace {

// Beside `last`, where it is aligned as well, and both are one mapping of the kernel's. Else wherever it is free.
std::byte* map_aligned(std::byte* last) {
  auto* const near = static_cast<std::byte*>(os::map_near(last ? last - chunk_bytes : nullptr, chunk_bytes));
  if (!near || is_aligned(address(near), chunk_bytes)) return near;
  os::unmap(near, chunk_bytes);
  auto* const wide = static_cast<std::byte*>(os::map(2 * chunk_bytes));
  if (!wide) return nullptr;
  std::byte* const at = at_address(align_up(address(wide), chunk_bytes));
  const auto before = std::size_t(at - wide);
  // What the kernel does not take back is address space lost, no memory.
  if (before != 0) os::unmap(wide, before);
  os::unmap(at + chunk_bytes, chunk_bytes - before);
  return at;
}

void clear(folio& f) {
  f.free = nullptr;
  f.next = f.prev = 0;
  f.used = 0;
  f.state = folio_state::clean;
  f.bumped.store(0, order::relaxed);
}

}  // namespace

chunk* chunk_source::make(unsigned home, std::uint32_t region_mask, unsigned c) noexcept {
  std::byte* const at = map_aligned(last_.load(order::relaxed));
  if (!at) return nullptr;
  last_.store(at, order::relaxed);
  std::uint32_t number = 0;
  {
    const os::holding h(lock);
    number = spare_numbers_;
    if (number != 0) spare_numbers_ = chunks_.at(number).next;
  }
  if (number == 0) number = chunks_.add();
  if (number == 0) {
    os::unmap(at, chunk_bytes);
    return nullptr;
  }
  if (thp_ != thp_policy::madvise) os::advise_huge_pages(at, chunk_bytes, thp_ == thp_policy::on);
  if (homes_ > 1) os::bind(at, chunk_bytes, home);
  chunk& k = chunks_.at(number);
  k.base = at;
  k.number = number;
  k.region_mask = region_mask;
  k.home = std::uint16_t(home);
  k.busy = 0;
  k.forsaken.store(0, order::relaxed);
  k.classes.of_all(c);
  if (!map_.store(address(at), &k)) {
    k.base = nullptr;
    os::unmap(at, chunk_bytes);
    const os::holding h(lock);
    k.next = spare_numbers_;
    spare_numbers_ = number;
    return nullptr;
  }
  live_.fetch_add(1, order::relaxed);
  return &k;
}

region chunk_source::take_chunk(unsigned c, unsigned home) noexcept {
  chunk* const k = make(home, chunk_bytes - 1, c);
  if (!k) return {};
  return {k, 0, unsigned(chunk_bytes / size_classes::folio_bytes(c))};
}

region chunk_source::take_slice(unsigned c, unsigned home) noexcept {
  region got = next_slice(c, home, nullptr);
  if (got.of) return got;
  chunk* const fresh = make(home, slice_bytes - 1, 0);
  return fresh ? next_slice(c, home, fresh) : region{};
}

// From a shared chunk that has one; they are few. `fresh` becomes one of them.
region chunk_source::next_slice(unsigned c, unsigned home, chunk* fresh) noexcept {
  const os::holding h(lock);
  if (fresh) {
    fresh->free_slices = ~std::uint32_t{0};
    fresh->next = shared_[home];
    shared_[home] = fresh->number;
  }
  std::uint32_t n = shared_[home];
  while (n != 0 && chunks_.at(n).free_slices == 0) n = chunks_.at(n).next;
  if (n == 0) return {};
  chunk& k = chunks_.at(n);
  const auto slice = unsigned(std::countr_zero(k.free_slices));
  k.free_slices &= k.free_slices - 1;
  k.classes.take(slice, c);
  const unsigned first = slice * folios_per_slice;
  return {&k, first, first + unsigned(slice_bytes / size_classes::folio_bytes(c))};
}

bool chunk_source::give_slice(chunk& k, unsigned slice) noexcept {
  os::discard_now(k.base + slice * slice_bytes, slice_bytes);
  k.classes.give(slice);
  for (unsigned i = 0; i < folios_per_slice; ++i) clear(k.folios[slice * folios_per_slice + i]);
  {
    const os::holding h(lock);
    k.free_slices |= std::uint32_t{1} << slice;
    if (k.free_slices != ~std::uint32_t{0}) return true;
    std::uint32_t* at = &shared_[k.home];
    while (*at != 0 && *at != k.number) at = &chunks_.at(*at).next;
    if (*at != 0) *at = k.next;  // else the list was forsaken, and it is in none
  }
  if (give_chunk(k)) return true;
  const os::holding h(lock);  // refused: shared out again
  k.next = shared_[k.home];
  shared_[k.home] = k.number;
  return true;
}

bool chunk_source::give_chunk(chunk& k) noexcept {
  std::byte* const at = k.base;
  map_.store(address(at), nullptr);
  if (!os::unmap(at, chunk_bytes)) {
    map_.store(address(at), &k);
    return false;
  }
  for (folio& f : k.folios) clear(f);
  live_.fetch_sub(1, order::relaxed);
  const os::holding h(lock);
  k.base = nullptr;
  k.next = spare_numbers_;
  spare_numbers_ = k.number;
  return true;
}

void chunk_source::forsake() noexcept {
  spare_numbers_ = 0;
  for (std::uint32_t& first : shared_) first = 0;
}

}  // namespace polder::heap::supermalloc
