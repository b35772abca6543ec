#pragma once
// bag — retired objects, roughly in the order they came, in chunks of a page. One thread's at a time.
//
// Two bags become one without touching an entry. Whenever another thread forks, the child finds a bag that it can go on
// with, though not always all that was on its way into it: in every step the list that begins at first_ holds size_ entries
// or more, and where there is a first_, last_ is in that list. A child's memory is no snapshot: pages are copied one by one
// while the bag's thread runs on to its next write of one that was, so what is written first may be all that is there. So
// the steps stand in an order that the compiler keeps (signal_fence).
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include <polder/smr/kind.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::smr {

template <class Entry>
struct chunk {
  static constexpr std::uint32_t room = (4096 - sizeof(void*) - 8) / sizeof(Entry);
  chunk* next;
  std::uint32_t count;
  Entry entries[room];
};

// Empty chunks, so that a bag that fills and drains asks the allocator for nothing, and one more that is always there
// unless memory ran out.
template <class Entry>
class chunk_stock {
 public:
  chunk_stock() = default;
  chunk_stock(const chunk_stock&) = delete;
  chunk_stock& operator=(const chunk_stock&) = delete;
  ~chunk_stock() {
    while (chunk<Entry>* c = first_) {
      first_ = c->next;
      delete c;
    }
  }

  // Null: there is no memory.
  chunk<Entry>* take() noexcept {
    chunk<Entry>* c = first_;
    if (c != nullptr) {
      first_ = c->next;
      --size_;
      signal_fence();
    } else {
      c = new (std::nothrow) chunk<Entry>;
      if (c == nullptr) return nullptr;
    }
    c->next = nullptr;
    c->count = 0;
    return c;
  }

  void give(chunk<Entry>* c) noexcept {
    if (size_ == most) {
      delete c;
      return;
    }
    c->next = first_;
    signal_fence();
    first_ = c;
    ++size_;
  }

  // Whether the next take() succeeds.
  bool reserve() noexcept {
    if (first_ == nullptr) {
      if (chunk<Entry>* c = new (std::nothrow) chunk<Entry>) give(c);
    }
    return first_ != nullptr;
  }

 private:
  static constexpr unsigned most = 16;
  chunk<Entry>* first_ = nullptr;
  unsigned size_ = 0;
};

template <class Entry>
class bag {
 public:
  bag() = default;
  bag(const bag&) = delete;
  bag& operator=(const bag&) = delete;
  bag(bag&& other) noexcept { splice(other); }
  ~bag() = default;  // whoever owns it has emptied it

  bool empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }
  std::size_t bytes() const noexcept { return empty() ? 0 : bytes_; }

  // False: there is no memory, and the entry is not in the bag.
  [[nodiscard]] bool push(const Entry& e, chunk_stock<Entry>& stock) noexcept {
    if (first_ == nullptr || last_->count == chunk<Entry>::room) {
      chunk<Entry>* const fresh = stock.take();
      if (fresh == nullptr) return false;
      append(fresh, fresh);
    }
    last_->entries[last_->count] = e;
    bytes_ = bytes() + e.weight();
    signal_fence();
    ++last_->count;
    signal_fence();
    ++size_;
    return true;
  }

  // One entry of the oldest chunk. Not when empty.
  Entry pop(chunk_stock<Entry>& stock) noexcept {
    while (first_->count == 0) drop_first(stock);
    const Entry e = first_->entries[first_->count - 1];
    --size_;
    bytes_ -= e.weight();
    signal_fence();
    --first_->count;
    signal_fence();  // a fork from here on loses it, and frees it never twice
    if (first_->count == 0 && first_ != last_) drop_first(stock);
    return e;
  }

  // Everything in `other` comes behind what is here.
  void splice(bag& other) noexcept {
    if (other.first_ == nullptr) return;
    const std::size_t bytes = other.bytes();
    const std::size_t size = std::exchange(other.size_, 0);
    signal_fence();
    chunk<Entry>* const first = std::exchange(other.first_, nullptr);
    append(first, other.last_);  // a fork in between loses them, and frees none twice
    bytes_ = this->bytes() + bytes;
    signal_fence();
    size_ += size;
  }

  // Gives back the chunk that an empty bag may still hold.
  void tidy(chunk_stock<Entry>& stock) noexcept {
    while (first_ != nullptr && first_->count == 0) drop_first(stock);
  }

  // Keeps those entries of which keep(e), which may write to them, is true; the others go through drop(e), which may push.
  template <class Keep, class Drop>
  void sift(chunk_stock<Entry>& stock, Keep&& keep, Drop&& drop) {
    bag old;
    old.splice(*this);
    for (chunk<Entry>* c = old.first_; c != nullptr;) {
      chunk<Entry>* const next = c->next;
      std::uint32_t kept = 0;
      std::size_t weight = 0;  // of those
      for (std::uint32_t i = 0; i != c->count; ++i) {
        Entry e = c->entries[i];
        if (keep(e)) {
          c->entries[kept++] = e;
          weight += e.weight();
        } else {
          drop(e);
        }
      }
      c->count = kept;
      c->next = nullptr;
      if (kept == 0) {
        stock.give(c);
      } else {
        append(c, c);
        bytes_ = bytes() + weight;
        signal_fence();
        size_ += kept;
      }
      c = next;
    }
  }

 private:
  // A list of chunks, the last of which is `last`, behind what is here.
  void append(chunk<Entry>* first, chunk<Entry>* last) noexcept {
    signal_fence();
    if (first_ == nullptr) {
      last_ = last;
      signal_fence();
      first_ = first;
    } else {
      last_->next = first;
      signal_fence();
      last_ = last;
    }
    signal_fence();
  }

  void drop_first(chunk_stock<Entry>& stock) noexcept {
    chunk<Entry>* const c = first_;
    first_ = c != last_ ? c->next : nullptr;
    signal_fence();
    stock.give(c);
  }

  chunk<Entry>* first_ = nullptr;
  chunk<Entry>* last_ = nullptr;  // where there is a first one
  std::size_t size_ = 0;
  std::size_t bytes_ = 0;  // what the entries weigh together
};

}  // namespace polder::smr
