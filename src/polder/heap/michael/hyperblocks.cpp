#include <polder/heap/michael/hyperblocks.hpp>

#include <iterator>

#include <polder/base/check.hpp>
#include <polder/os/pages.hpp>

namespace polder::heap::michael {

std::byte* hyperblocks::take(unsigned places, std::uint32_t number) noexcept {
  auto& seek = seek_[of_length(places)];
  std::uint64_t began = seek.load(order::acquire);  // sync: hyper-seek
  const std::uint32_t from = std::uint32_t(began) != 0 ? std::uint32_t(began) : 1;
  std::uint32_t n = from;
  std::byte* const found = take_open(places, number, n);
  if (n != from) seek.cas(began, began - std::uint32_t(began) + n, order::relaxed, order::relaxed);
  if (found) return found;
  std::uint32_t fresh = take_spare();
  if (fresh == 0) fresh = open_another();
  if (fresh == 0) return take_open(places, number, n = 1);
  // All of its places are ours.
  hyperblock& h = table_.at(fresh);
  std::byte* const base = h.base.load(order::relaxed);
  for (unsigned i = 0; i != places; ++i) h.superblock[i].store(number, order::relaxed);
  h.clean.fetch_and(~low_ones(places), order::relaxed);
  if (places != this->places()) {
    [[maybe_unused]] const bool ours = h.taken.give(places, this->places() - places);
    POLDER_CHECK(1, ours);
    seek_from(fresh);
  }
  return base;
}

// A superblock in the first hyperblock from n on that has room for it, which is n then. Null: none has, and n is one that there is
// not yet.
std::byte* hyperblocks::take_open(unsigned places, std::uint32_t descriptor, std::uint32_t& n) noexcept {
  const std::uint32_t made = table_.made(), from = n;
  std::byte* found = nullptr;
  while (n <= made && (found = take_from(n, places, descriptor)) == nullptr) ++n;
  looks_.fetch_add(n - from + (found != nullptr), order::relaxed);
  return found;
}

std::byte* hyperblocks::take_from(std::uint32_t number, unsigned places, std::uint32_t descriptor) noexcept {
  hyperblock& h = table_.at(number);
  if (!h.base.load(order::acquire)) return nullptr;  // sync: hyper-base: of a new one the bits are not yet right
  const unsigned at = h.taken.try_take(places);
  if (at == run_bitmap::none) return nullptr;
  for (unsigned i = 0; i != places; ++i) h.superblock[at + i].store(descriptor, order::relaxed);
  if ((h.clean.load(order::relaxed) & ones(at, places)) != 0) h.clean.fetch_and(~ones(at, places), order::relaxed);
  return h.base.load(order::relaxed) + at * place_bytes;
}

void hyperblocks::give(std::byte* superblock, unsigned places) noexcept {
  const std::uint32_t number = addresses_.find(address(superblock));
  hyperblock& h = table_.at(number);
  const auto at = unsigned((superblock - h.base.load(order::relaxed)) / std::ptrdiff_t(place_bytes));
  for (unsigned i = 0; i != places; ++i) h.superblock[at + i].store(0, order::relaxed);
  [[maybe_unused]] const bool ours = h.taken.give(at, places);
  POLDER_CHECK(1, ours);
  // From here on others may take the place, and unmap the whole: the record remains.
  seek_from(number);
  if ((h.taken.taken() & low_ones(this->places())) != 0) return;
  // Two who give the last places at once may both see it empty; one of them takes it.
  if (!h.taken.try_take_at(0, this->places())) return;
  if (!h.base.load(order::relaxed) || is_put_aside(number)) return;
  unmap(number);
}

// Places of it were given back. Of neighbours that are given at once, the last one sees the run that they make.
void hyperblocks::seek_from(std::uint32_t number) noexcept {
  const unsigned longest = run_bitmap::longest_open(table_.at(number).taken.taken());
  for (unsigned places = 1; places <= longest && of_length(places) < std::size(seek_); places *= 4) {
    auto& seek = seek_[of_length(places)];
    std::uint64_t now = seek.fetch_add(given_once, order::release) + given_once;  // sync: hyper-seek
    while (std::uint32_t(now) > number &&
           !seek.cas(now, now - std::uint32_t(now) + number, order::relaxed, order::relaxed)) {
    }
  }
}

std::uint32_t hyperblocks::take_spare() noexcept {
  for (auto& slot : spare_) {
    std::uint32_t n = slot.load(order::relaxed);
    if (n != 0 && slot.cas(n, 0, order::acquire, order::relaxed)) return n;  // sync: hyper-spare
  }
  return 0;
}

bool hyperblocks::is_put_aside(std::uint32_t number) noexcept {
  for (unsigned i = 0; i != spare_wanted_; ++i) {
    std::uint32_t none = 0;
    if (spare_[i].load(order::relaxed) == 0 &&
        spare_[i].cas(none, number, order::release, order::relaxed))  // sync: hyper-spare
      return true;
  }
  return false;
}

// Mapped with the alignment of the radix map's granules, all places taken: the caller's.
std::uint32_t hyperblocks::open_another() noexcept {
  std::uint32_t number = unused_.pop(links());
  if (number == 0) {
    number = table_.add();
    if (number == 0) return 0;
    // Nobody takes from a number without base.
    [[maybe_unused]] const bool ours = table_.at(number).taken.try_take_at(0, most_places);
    POLDER_CHECK(1, ours);
  }
  calls_.fetch_add(1, order::relaxed);
  auto* base = static_cast<std::byte*>(os::map(bytes_));
  if (base && !is_aligned(address(base), mem::grain_size)) {
    // The kernel gives multiples of its page: map more, and give the ends back.
    os::unmap(base, bytes_);
    auto* const wide = static_cast<std::byte*>(os::map(bytes_ + mem::grain_size));
    base = wide ? at_address(align_up(address(wide), mem::grain_size)) : nullptr;
    if (wide && base != wide) os::unmap(wide, std::size_t(base - wide));
    if (wide) os::unmap(base + bytes_, mem::grain_size - std::size_t(base - wide));
  }
  if (base && enroll(base, number)) {
    table_.at(number).clean.store(low_ones(places()), order::relaxed);
    table_.at(number).base.store(base, order::release);  // sync: hyper-base
    return number;
  }
  if (base) os::unmap(base, bytes_);
  unused_.push(number, links());
  return 0;
}

bool hyperblocks::enroll(std::byte* base, std::uint32_t number) noexcept {
  for (std::size_t at = 0; at != bytes_; at += mem::grain_size)
    if (!addresses_.store(address(base) + at, number)) {
      for (; at != 0; at -= mem::grain_size) addresses_.store(address(base) + at - mem::grain_size, 0);
      return false;
    }
  return true;
}

// All of its places are the caller's. False: the system would not have it; then it is open again.
bool hyperblocks::unmap(std::uint32_t number) noexcept {
  hyperblock& h = table_.at(number);
  std::byte* const base = h.base.load(order::relaxed);
  for (std::size_t at = 0; at != bytes_; at += mem::grain_size) addresses_.store(address(base) + at, 0);
  h.base.store(nullptr, order::relaxed);
  calls_.fetch_add(1, order::relaxed);
  if (os::unmap(base, bytes_)) {
    unused_.push(number, links());
    return true;
  }
  if (os::discard_now(base, bytes_) == os::discarded::zeroed) h.clean.store(low_ones(places()), order::relaxed);
  enroll(base, number);                // no node is missing: it was there before
  h.base.store(base, order::release);  // sync: hyper-base
  [[maybe_unused]] const bool ours = h.taken.give(0, places());
  POLDER_CHECK(1, ours);
  seek_from(number);
  return false;
}

std::size_t hyperblocks::trim(std::size_t page) noexcept {
  std::size_t given = 0;
  while (const std::uint32_t n = take_spare())
    if (unmap(n)) given += bytes_;
  const unsigned step = page <= place_bytes ? 1 : unsigned(page / place_bytes);
  for (std::uint32_t n = 1; n <= table_.made(); ++n) {
    hyperblock& h = table_.at(n);
    if (!h.base.load(order::acquire)) continue;  // sync: hyper-base
    const auto clean = [&](unsigned at) { return (~h.clean.load(order::relaxed) & ones(at, step)) == 0; };
    for (unsigned at = 0; at != places();) {
      unsigned length = 0;  // of a run of open places that were written to, taken for as long as it lasts
      while (at + length != places() && !clean(at + length) && h.taken.try_take_at(at + length, step))
        length += step;
      if (length != 0) {
        std::byte* const base = h.base.load(order::relaxed);
        if (os::discard_now(base + at * place_bytes, length * place_bytes) == os::discarded::zeroed) {
          given += length * place_bytes;
          h.clean.fetch_or(ones(at, length), order::relaxed);
        }
        [[maybe_unused]] const bool ours = h.taken.give(at, length);
        POLDER_CHECK(1, ours);
        seek_from(n);
      }
      at += length != 0 ? length : step;
    }
    // Who gave the last place while some were taken here left it open and empty.
    if ((h.taken.taken() & low_ones(places())) == 0 && h.taken.try_take_at(0, places()) && unmap(n))
      given += bytes_;
  }
  return given;
}

}  // namespace polder::heap::michael
