#pragma once
// per_thread — a record for each thread number (smr/thread_slot.hpp: dense, from 1), made when it is first asked for.
//
//   progress   at(): wait-free, but for the allocator's part; each(): wait-free
//   in malloc  no
//   invariant  row r has the records of numbers 2^r to 2^(r+1) - 1, and stays where it is until the end; so a record outlives
//              its thread, and the next thread with that number goes on with it
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <polder/sync/atomic.hpp>

namespace polder::ds {

template <class Record>
class per_thread {
 public:
  static constexpr unsigned rows = 16;  // numbers to 65535

  per_thread() = default;
  per_thread(const per_thread&) = delete;
  per_thread& operator=(const per_thread&) = delete;
  ~per_thread() {
    for (atomic<Record*>& row : rows_) delete[] row.load(order::relaxed);
  }

  // Throws std::bad_alloc.
  Record& at(std::uint32_t number) {
    const unsigned row = unsigned(std::bit_width(number)) - 1;
    Record* records = rows_[row].load(order::acquire);  // sync: thread-row
    if (records == nullptr) [[unlikely]]
      records = make(row);
    return records[number - (std::uint32_t{1} << row)];
  }

  // Of a number that may not have been asked for: then null.
  Record* find(std::uint32_t number) noexcept {
    const unsigned row = unsigned(std::bit_width(number)) - 1;
    Record* const records = rows_[row].load(order::acquire);  // sync: thread-row
    return records == nullptr ? nullptr : &records[number - (std::uint32_t{1} << row)];
  }

 private:
  Record* make(unsigned row) {
    std::unique_ptr<Record[]> made = std::make_unique<Record[]>(std::size_t{1} << row);
    Record* there = nullptr;
    // sync: thread-row
    return rows_[row].cas(there, made.get(), order::acq_rel, order::acquire) ? made.release() : there;
  }

  // rows_: written once, by who first needs the row; read by all. thread-row: the records are made.
  atomic<Record*> rows_[rows];
};

}  // namespace polder::ds
