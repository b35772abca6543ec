#pragma once
// hyperblocks — superblocks in batches: one mapping of 1 MB holds up to 64 of 16 KB, or fewer and longer ones.
//
//   paper      Michael, PLDI 2004, section 3.2.5: superblocks of superblocks with descriptors of their own, "allowing them
//              eventually to be returned to the OS"; superblocks are not written until they are used
//   progress   lock-free, but for the system calls
//   in malloc  yes
//   deviation  the hyperblock's anchor is a bit a place (sync/run_bitmap.hpp): nothing is written into a superblock that is
//              not used, superblocks of several sizes share a hyperblock, and who takes all places of one that is empty
//              owns it whole. It is registered in the radix map, so that any address can be asked whose it is; the paper
//              trusts the prefix
//
// A hyperblock. In brackets, what the thread that made the arrow owes.
//
//     no number ──▶ mapped, all places taken [give those it does not need] ──▶ open ─┐ take, give
//         ▲                    ▲ [goes on as the left arrow]                    │ └──┘
//         │                    │ take()                                        │ its last place given: take all places
//         │                  spare ◀───────── [put it aside] ──────────────────┤ (another's take was first: nothing)
//         └──────────────────────────────────  [unmap] ────────────────────────┘
//
// A thread that ends in between takes one hyperblock along, at most.
#include <bit>
#include <cstddef>
#include <cstdint>

#include <polder/base/align.hpp>
#include <polder/base/bits.hpp>
#include <polder/heap/michael/place.hpp>
#include <polder/mem/radix_map.hpp>
#include <polder/mem/record_table.hpp>
#include <polder/sync/index_stack.hpp>
#include <polder/sync/run_bitmap.hpp>

namespace polder::heap::michael {

class hyperblocks {
 public:
  static constexpr unsigned most_places = run_bitmap::places;
  static constexpr unsigned most_spare = 64;

  struct hyperblock {
    run_bitmap taken;
    // base — where it lies; null: it has no memory.
    //   written by  who has all of its places
    //   order       hyper-base: its bits and `clean` are what they are to be, for who walks all numbers. Otherwise
    //                 relaxed: whoever has a place has it from somebody who had it when base was written (run-give,
    //                 hyper-spare), and so has whoever has a block there
    atomic<std::byte*> base;
    atomic<std::uint32_t> next;  // in a stack of numbers
    // clean — for each place a bit: 1: nothing was written there since it came from the system.
    //   written by  who has the place
    //   read by     who counts, and a trim, which has nothing to do there
    //   order       relaxed: of one place's holders each comes after the one before (run-give)
    atomic<std::uint64_t> clean;
    // superblock — for each place the descriptor of the superblock there, 0: none. For addresses that anybody asks about:
    // of a live block it stands since before the block was handed out.
    atomic<std::uint32_t> superblock[most_places];
  };

  static constexpr std::uint32_t per_table = 64, tables = 1u << 14;
  using table = mem::record_table<hyperblock, per_table, tables>;
  static constexpr std::size_t directory_bytes = table::directory_bytes;

  hyperblocks(mem::radix_map& addresses, std::byte* directory, std::size_t bytes, unsigned spare) noexcept
      : addresses_(addresses), table_(directory), bytes_(bytes), spare_wanted_(spare) {}

  // A superblock of `places` places for descriptor `number`; null: the system refuses.
  std::byte* take(unsigned places, std::uint32_t number) noexcept;
  void give(std::byte* superblock, unsigned places) noexcept;

  // The descriptor of the superblock in which the address lies; `within`: it lies in a hyperblock, at any rate.
  std::uint32_t find(const void* p, bool& within) const noexcept {
    const std::uint32_t number = addresses_.find(address(p));
    if (number == 0 || (number & mem::radix_map::huge_mark) != 0) return 0;
    const hyperblock& h = table_.at(number);
    const std::size_t offset = address(p) - address(h.base.load(order::relaxed));
    if (offset >= bytes_) return 0;  // it is being mapped or unmapped
    within = true;
    return h.superblock[offset / place_bytes].load(order::relaxed);
  }

  // Unmaps the spare ones and drops the contents of places that nobody has. Bytes.
  std::size_t trim(std::size_t page) noexcept;

  std::size_t bytes_each() const noexcept { return bytes_; }
  std::size_t metadata_bytes() const noexcept { return table_.bytes(); }
  // Calls f(hyperblock) for each that has memory; a snapshot that may be torn.
  template <class F>
  void each(F f) const noexcept {
    for (std::uint32_t n = 1; n <= table_.made(); ++n)
      if (const hyperblock& h = table_.at(n); h.base.load(order::acquire)) f(h);  // sync: hyper-base
  }
  std::uint64_t calls() const noexcept { return calls_.load(order::relaxed); }
  std::uint64_t looks() const noexcept { return looks_.load(order::relaxed); }

 private:
  unsigned places() const noexcept { return unsigned(bytes_ / place_bytes); }
  std::byte* take_open(unsigned places, std::uint32_t descriptor, std::uint32_t& n) noexcept;
  std::byte* take_from(std::uint32_t number, unsigned places, std::uint32_t descriptor) noexcept;
  std::uint32_t take_spare() noexcept;
  std::uint32_t open_another() noexcept;
  bool is_put_aside(std::uint32_t number) noexcept;
  bool unmap(std::uint32_t number) noexcept;
  bool enroll(std::byte* base, std::uint32_t number) noexcept;
  void seek_from(std::uint32_t number) noexcept;
  auto links() noexcept {
    return [this](std::uint32_t n) -> atomic<std::uint32_t>& { return table_.at(n).next; };
  }

  mem::radix_map& addresses_;
  table table_;
  std::size_t bytes_;      // of each: a multiple of 256 KiB, up to 1 MiB
  unsigned spare_wanted_;  // empty ones kept, up to most_spare
  index_stack unused_;     // numbers without memory
  // seek_ — for superblocks of 1, 4 and 16 places, where a search begins: in no hyperblock below it are so many open in a row, but
  // for what is being given this moment. The upper half counts what was given.
  //   written by  who made places open (counts, and lowers the number); who has searched (raises it, unless something was
  //               given meanwhile)
  //   read by     who begins a search
  //   order       hyper-seek: a search sees open what was given before it began
  //   ABA         the count: a raise is deceived after 2^32 gives within one search. What it passes over then, or what a
  //                 thread left that ended before it had lowered the number, is found when the system refuses more
  atomic<std::uint64_t> seek_[3];
  static constexpr unsigned of_length(unsigned places) { return unsigned(std::countr_zero(places)) / 2; }
  static constexpr std::uint64_t given_once = std::uint64_t{1} << 32;

  // Counted by who does it, read by tests, relaxed: calls of mmap and munmap; hyperblocks that were searched.
  atomic<std::uint64_t> calls_, looks_;
  // spare_ — empty hyperblocks, all places taken; 0: room for another.
  //   order  hyper-spare: who takes one out comes after who put it aside
  atomic<std::uint32_t> spare_[most_spare];
};

}  // namespace polder::heap::michael
