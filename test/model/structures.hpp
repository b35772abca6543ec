#pragma once
// structures — what models of structures hold and who reclaims: a key that shows whether it was freed, and four reclaimers.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include <polder/sync/atomic.hpp>

#include "explore.hpp"

namespace polder::model {

// As smr/reclaimer.hpp has it, which models do not include.
enum class protection { region, pointer };
struct protects_what {
  protection protects;
};

// A key whose reads and writes are checked for races. Its end writes it, so freeing races with who still reads.
struct key {
  plain<int> number;
  explicit key(int n) : number(n) {}
  key(const key& other) noexcept : number(other.value()) {}
  key& operator=(const key& other) noexcept {
    number.set(other.value());
    return *this;
  }
  ~key() { number.set(-1); }
  int value() const noexcept {
    const int n = number.get();
    POLDER_MODEL_CHECK(n > 0);  // not freed
    return n;
  }
  friend bool operator<(const key& a, const key& b) { return a.value() < b.value(); }
};
struct none {};

// What a slot keeps when it protects a pointer; words with marks bring an overload of their own.
inline const void* address_of(const void* p) { return p; }

// What keeps a node: everything does, or a guard that was open when it was retired, or a slot that has its address, or one
// that has an era between its birth and its end.
enum class kept_by { all, guard, address, era };

// A reclaimer with a guard a thread at a time. What is freed is destroyed where it stands, so that whoever still reads it is
// told; its room is used again by the next execution.
template <kept_by Keeps, unsigned Threads, unsigned Slots, unsigned Nodes>
struct reclaimer {
  static constexpr bool by_region = Keeps == kept_by::all || Keeps == kept_by::guard;
  static constexpr protects_what info{by_region ? protection::region : protection::pointer};
  struct header {};

  class domain {
   public:
    domain() = default;
    domain(const domain&) = delete;
    domain& operator=(const domain&) = delete;
    ~domain() {
      for (unsigned i = 0; i != used_.load(order::relaxed); ++i) {
        if (made_[i].destroy != nullptr) made_[i].destroy(made_[i].at);
        std::free(made_[i].at);
      }
    }

   private:
    friend reclaimer;
    struct room {
      void* at = nullptr;
      void (*destroy)(void*) = nullptr;         // null: it has been
      std::uintptr_t birth = 0, end = 0;        // eras
      std::uintptr_t guards[Threads + 1] = {};  // of each thread, when it was retired
    };
    room& room_of(const void* p) {
      for (room& r : made_) {
        if (r.at == p) return r;
      }
      std::abort();
    }
    void free(const void* p) { std::exchange(room_of(p).destroy, nullptr)(const_cast<void*>(p)); }
    bool is_held(const void* p) {
      if constexpr (Keeps == kept_by::guard) {
        for (unsigned t = 0; t != Threads + 1; ++t) {
          const std::uintptr_t then = room_of(p).guards[t];
          if (then % 2 != 0 && guards_[t].load(order::acquire) == then) return true;
        }
        return false;
      }
      for (const auto& thread : held_) {
        for (const auto& slot : thread) {
          const std::uintptr_t by = slot.load(order::acquire);
          if constexpr (Keeps == kept_by::era) {
            if (room_of(p).birth <= by && by <= room_of(p).end) return true;
          } else {
            if (by == std::uintptr_t(p)) return true;
          }
        }
      }
      return false;
    }
    atomic<std::uintptr_t> held_[Threads + 1][Slots];  // addresses or eras
    atomic<std::uintptr_t> guards_[Threads + 1];       // a thread's, opened and closed; odd: one is open
    atomic<std::uintptr_t> era_{1};
    const void* waiting_[Threads + 1][Nodes] = {};
    room made_[Nodes];
    atomic<unsigned> used_;
  };

  template <unsigned N>
  class guard {
   public:
    explicit guard(domain& d) : domain_(d) {
      if constexpr (Keeps == kept_by::guard) {
        domain_.guards_[self_].fetch_add(1, order::relaxed);
        fence(order::seq_cst);
      }
    }
    ~guard() {
      if constexpr (Keeps == kept_by::guard) domain_.guards_[self_].fetch_add(1, order::release);
      else if constexpr (Keeps != kept_by::all) {
        for (unsigned i = 0; i != N; ++i) clear(i);
      }
      if constexpr (Keeps != kept_by::all) sweep();
    }
    guard(const guard&) = delete;
    guard& operator=(const guard&) = delete;

    template <class W>
    W protect(unsigned slot, const atomic<W>& word) {
      W now = word.load(order::acquire);
      if constexpr (Keeps == kept_by::address) {
        for (;;) {
          hold(slot, address_of(now));
          const W again = word.load(order::acquire);
          if (again == now) break;
          now = again;
        }
      }
      if constexpr (Keeps == kept_by::era) {
        for (;;) {
          const std::uintptr_t era = domain_.era_.load(order::relaxed);
          if (era == domain_.held_[self_][slot].load(order::relaxed)) break;
          domain_.held_[self_][slot].store(era, order::release);
          fence(order::seq_cst);
          now = word.load(order::acquire);
        }
      }
      return now;
    }
    void hold(unsigned slot, const void* p) {
      static_assert(N <= Slots);
      static_assert(Keeps != kept_by::era);  // what p is in no slot for may be gone
      if constexpr (Keeps == kept_by::address) {
        domain_.held_[self_][slot].store(std::uintptr_t(p), order::release);
        fence(order::seq_cst);
      }
    }
    void clear(unsigned slot) { domain_.held_[self_][slot].store(0, order::release); }

    template <class T, class... Arguments>
    T* make(Arguments&&... arguments) {
      const unsigned i = domain_.used_.fetch_add(1, order::relaxed);
      POLDER_MODEL_CHECK(i < Nodes);
      void* const at = std::aligned_alloc(alignof(T), sizeof(T));
      T* const made = ::new (at) T(std::forward<Arguments>(arguments)...);
      const auto destroy = [](void* p) {
        static_cast<T*>(p)->~T();
        std::memset(p, 0xdd, sizeof(T));  // so that who touches what T's end left alone is told too
      };
      domain_.made_[i] = {at, destroy, domain_.era_.load(order::relaxed)};
      return made;
    }
    void unmake(const void* node) { domain_.free(node); }
    void retire(const void* node) {
      if constexpr (Keeps == kept_by::era) {
        fence(order::seq_cst);
        domain_.room_of(node).end = domain_.era_.fetch_add(1, order::relaxed);
      }
      if constexpr (Keeps == kept_by::guard) {
        fence(order::seq_cst);
        for (unsigned t = 0; t != Threads + 1; ++t)
          domain_.room_of(node).guards[t] = domain_.guards_[t].load(order::acquire);
      }
      if constexpr (Keeps != kept_by::all) {
        for (const void*& place : domain_.waiting_[self_]) {
          if (place == nullptr) {
            place = node;
            break;
          }
        }
        sweep();
      }
    }

   private:
    void sweep() {
      fence(order::seq_cst);
      for (const void*& place : domain_.waiting_[self_]) {
        if (place != nullptr && !domain_.is_held(place)) domain_.free(std::exchange(place, nullptr));
      }
    }

    domain& domain_;
    const unsigned self_ = unsigned(rl::ctx().current_thread() + 1);  // 0: before and after the threads
  };
};

// Keeps everything: shows what the links alone order.
template <unsigned Threads, unsigned Slots, unsigned Nodes>
using keeping = reclaimer<kept_by::all, Threads, Slots, Nodes>;
// Regions that end as early as they may: a node is freed when the guards have closed that were open at its retirement.
template <unsigned Threads, unsigned Slots, unsigned Nodes>
using regions = reclaimer<kept_by::guard, Threads, Slots, Nodes>;
// Hazard pointers, scanned at each retirement and when a guard has closed.
template <unsigned Threads, unsigned Slots, unsigned Nodes>
using hazards = reclaimer<kept_by::address, Threads, Slots, Nodes>;
// Hazard eras, scanned likewise; each retirement begins an era. Unlike an address, an era keeps only what is not retired yet.
template <unsigned Threads, unsigned Slots, unsigned Nodes>
using eras = reclaimer<kept_by::era, Threads, Slots, Nodes>;

}  // namespace polder::model
