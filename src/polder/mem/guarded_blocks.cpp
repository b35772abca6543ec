#include <polder/base/align.hpp>
#include <polder/base/check.hpp>
#include <polder/mem/guarded_blocks.hpp>
#include <polder/mem/misuse.hpp>
#include <polder/os/pages.hpp>
#include <polder/os/print.hpp>

namespace polder::mem {

void guarded_blocks::start(std::size_t page, secret s) noexcept {
  auto* const table = static_cast<guarded_slot*>(os::map(align_up(slots * sizeof(guarded_slot), page)));
  if (table == nullptr) return;
  const std::size_t all = (2 * slots + 1) * page;
  auto* const pages = static_cast<std::byte*>(os::reserve(all));
  if (pages == nullptr) {
    static_cast<void>(os::unmap(table, align_up(slots * sizeof(guarded_slot), page)));
    return;
  }
  static_cast<void>(os::keep_in_core_dumps(pages, all, false));
  // Marks first, access afterwards: at no moment may the whole be touched.
  by_marks_ = os::install_guard(pages, all) && os::commit(pages, all);
  if (by_marks_ && os::reads_as_zero(pages)) {  // an emulator, or a filter, that says yes to everything
    by_marks_ = false;
    static_cast<void>(os::deny(pages, all));
  }
  // A page that is opened by mprotect must have no mark: where some were made, and access was refused, they go again.
  if (!by_marks_) static_cast<void>(os::remove_guard(pages, all));
  table_ = table;
  page_ = page;
  pattern_ = std::uint8_t(s >> 40 | 1);
  pages_ = pages;
}

void* guarded_blocks::take(std::size_t n, random& r) noexcept {
  if (!takes(n)) return nullptr;
  constexpr unsigned tries = 4;
  for (unsigned t = 0; t != tries; ++t) {
    const unsigned i = turn_.fetch_add(1, order::relaxed) % slots;
    guarded_slot& s = table_[i];
    if (!s.begin_making()) continue;
    std::byte* const page = page_of(i);
    if (!open(page)) {
      s.give_up();
      return nullptr;
    }
    const bool at_end = (r.next() & 1) != 0;
    std::byte* const p = at_end ? page + align_down(page_ - (n != 0 ? n : 1), min_alignment) : page;
    __builtin_memset(page, pattern_, page_);
    __builtin_memset(p, 0, n);
    live_.fetch_add(1, order::relaxed);
    s.end_making(p, std::uint32_t(n));
    return p;
  }
  return nullptr;
}

bool guarded_blocks::open(std::byte* page) const noexcept {
  return by_marks_ ? os::remove_guard(page, page_) : os::commit(page, page_);
}

// Where the kernel refuses the page stays within reach, and a use after free is not noticed.
void guarded_blocks::close(std::byte* page) const noexcept {
  by_marks_ ? static_cast<void>(os::install_guard(page, page_)) : close_by_access(page);
}

void guarded_blocks::close_by_access(std::byte* page) const noexcept {
  static_cast<void>(os::discard_now(page, page_));
  static_cast<void>(os::deny(page, page_));
}

bool guarded_blocks::surroundings_hold(const guarded_slot& s, const std::byte* page) const noexcept {
  const auto is_pattern = [&](const std::byte* from, const std::byte* to) {
    for (; from != to; ++from)
      if (*from != std::byte{pattern_}) return false;
    return true;
  };
  return is_pattern(page, s.block()) && is_pattern(s.block() + s.asked(), page + page_);
}

void guarded_blocks::give(const void* p) noexcept {
  const unsigned i = slot_near(p);
  guarded_slot& s = table_[i];
  if (!s.begin_giving() || p != s.block()) report_free(p);
  if (!surroundings_hold(s, page_of(i)))
    report(misuse::corrupted, p, {.remark = "written to before its beginning or beyond its end"});
  close(page_of(i));
  live_.fetch_sub(1, order::relaxed);
  s.end_giving();
}

std::size_t guarded_blocks::usable(const void* p) const noexcept {
  const guarded_slot& s = table_[slot_near(p)];
  if (!s.is_live() || p != s.block()) report_free(p);
  return s.asked();
}

// The slot whose page p is in; of a guard page, the one whose block is nearer.
unsigned guarded_blocks::slot_near(const void* p) const noexcept {
  const std::size_t at = (address(p) - address(pages_)) / page_;
  if (at % 2 == 1) return unsigned(at / 2);
  if (at == 0) return 0;
  if (at == 2 * slots) return slots - 1;
  const auto before = unsigned(at / 2 - 1);
  const guarded_slot& b = table_[before];
  const guarded_slot& a = table_[before + 1];
  if (b.block() == nullptr) return before + 1;
  if (a.block() == nullptr) return before;
  return address(p) - (address(b.block()) + b.asked()) < address(a.block()) - address(p) ? before : before + 1;
}

std::size_t guarded_blocks::validate() const noexcept {
  std::size_t live = 0;
  for (unsigned i = 0; pages_ != nullptr && i != slots; ++i) {
    const guarded_slot& s = table_[i];
    live += s.is_live();
    must(!s.is_live() || (address(s.block()) - address(page_of(i)) <= page_ - s.asked() && s.asked() <= page_));
  }
  must(live * page_ == live_bytes());
  return live;
}

void guarded_blocks::report_free(const void* p) const noexcept {
  const guarded_slot& s = table_[slot_near(p)];
  if (p == s.block()) report(misuse::double_free, p, {.remark = "a guarded block"});
  report(is_aligned(address(p), min_alignment) ? misuse::invalid_free : misuse::misaligned_free, p,
         {.remark = "not the beginning of a guarded block"});
}

bool guarded_blocks::explain(const void* p) const noexcept {
  if (!has(p)) return false;
  const guarded_slot& s = table_[slot_near(p)];
  const std::byte* const start = s.block();
  const std::size_t n = s.asked();
  os::line line;
  line << "polder: ";
  if (start == nullptr) {
    line << "stray access at " << p << ": no block has been there";
  } else if (address(p) >= address(start) && address(p) < address(start) + n) {
    line << "use after free at " << p << ": " << address(p) - address(start) << " bytes into a block of " << n
         << " at " << static_cast<const void*>(start);
  } else {
    const bool before = address(p) < address(start);
    const std::size_t by = before ? address(start) - address(p) : address(p) - (address(start) + n) + 1;
    line << (s.is_live() ? "" : "use after free, and ") << "access out of bounds at " << p << ": " << by
         << " bytes " << (before ? "before" : "beyond") << " a block of " << n << " at "
         << static_cast<const void*>(start);
  }
  return true;
}

}  // namespace polder::mem
