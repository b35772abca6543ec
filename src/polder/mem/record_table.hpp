#pragma once
// record_table — records by number, in tables that are mapped as they are needed and never given back: whoever once had
// a number may look at its record for ever.
//
//   progress   at() wait-free; add() lock-free
//   in malloc  yes: one system call a table
//   invariant  every number in [1, made()] has its record, which was all-zero when the number was handed out
#include <cstddef>
#include <cstdint>

#include <polder/mem/zeroed.hpp>
#include <polder/sync/atomic.hpp>
#include <polder/sync/next_number.hpp>

namespace polder::mem {

template <class Record, std::uint32_t per_table, std::uint32_t tables>
class record_table {
 public:
  // Bytes of zeroed memory, aligned to a cache line, for the directory; not touched before it is used.
  static constexpr std::size_t directory_bytes = tables * sizeof(void*);

  // `of`: tables, where there is room for fewer.
  explicit record_table(std::byte* directory, std::uint32_t of = tables) noexcept
      : directory_(reinterpret_cast<atomic<Record*>*>(directory)), tables_(of) {}

  Record& at(std::uint32_t number) const noexcept {
    return directory_[number / per_table].load(order::acquire)[number % per_table];  // sync: installed
  }

  std::uint32_t made() const noexcept { return made_.load(order::acquire); }  // sync: number-counted

  // A number that nobody had before; 0: all are in use, or the system refuses.
  std::uint32_t add() noexcept {
    return next_number(
        made_, std::uint64_t{per_table} * tables_, directory_, per_table,
        [] { return zeroed::make<Record>(per_table); }, [](Record* fresh) { zeroed::discard(fresh, per_table); });
  }

  // Bytes mapped for tables.
  std::size_t bytes() const noexcept {
    const std::uint32_t n = made();
    return n == 0 ? 0 : (n / per_table + 1) * zeroed::bytes<Record>(per_table);
  }

 private:
  // directory_ — the tables.
  //   written by  whoever needs the first number of one, by CAS; never cleared
  //   read by     anyone who has a number
  //   order       installed: the tables
  //               number-counted: who reads the count, to walk all numbers, finds their tables
  //   ABA         no: a slot changes once, the count only grows
  atomic<Record*>* directory_;
  std::uint32_t tables_;
  atomic<std::uint32_t> made_;
};

}  // namespace polder::mem
