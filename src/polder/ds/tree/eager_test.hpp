#pragma once
// eager — reclaimers for tests that free as soon as they may: what is read without protection is then found by
// AddressSanitizer at once. Each works under one lock, which hides what only real parallelism shows; leaky hides nothing
// of that, and frees nothing before its domain ends.
#include <cstddef>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <polder/smr/reclaimer.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::ds::eager {

struct retired {
  void* object;
  void (*reclaim)(void*) noexcept;
};

template <class T, class Deleter>
retired later(T* object) {
  return {object, [](void* p) noexcept { Deleter{}(static_cast<T*>(p)); }};
}
struct plain_delete {
  template <class T>
  void operator()(T* p) const noexcept {
    delete p;
  }
};

// What all three have in common: who makes and frees.
template <class Guard>
struct making {
  template <class T, class... Arguments>
  T* make(Arguments&&... arguments) {
    return new T(std::forward<Arguments>(arguments)...);
  }
  template <class T>
  void unmake(T* node) noexcept {
    delete node;
  }
  template <class T>
  void retire(T* node) {
    static_cast<Guard*>(this)->put(later<T, plain_delete>(node));
  }
  template <class T, class Deleter>
  void retire(T* object, Deleter) {
    static_cast<Guard*>(this)->put(later<T, Deleter>(object));
  }
};

// A domain that reclaims all before it ends.
template <class R>
struct drained : R::domain {
  ~drained() { this->drain(); }
};

struct leaky {
  static constexpr smr::scheme_info info = {
      "leaky", "Nothing before the end", "", 2026, smr::protection::region, "wait-free", "blocking", false, "", "",
      0};
  struct header {};
  class domain {
   public:
    domain() = default;
    ~domain() { drain(); }
    void synchronize() {}
    void drain() {  // at the end
      for (const retired& r : std::exchange(kept_, {})) r.reclaim(r.object);
    }
    smr::garbage statistics() { return {}; }

   private:
    friend leaky;
    std::mutex lock_;
    std::vector<retired> kept_;
  };
  template <unsigned Slots>
  class guard : public making<guard<Slots>> {
   public:
    explicit guard(domain& d) : domain_(d) {}
    template <class W>
    W protect(unsigned, const atomic<W>& word) {
      return word.load(order::acquire);  // sync: structure
    }
    void hold(unsigned, const void*) {}
    void clear(unsigned) {}
    void put(retired r) {
      const std::lock_guard<std::mutex> l(domain_.lock_);
      domain_.kept_.push_back(r);
    }

   private:
    domain& domain_;
  };
};

// Frees when every guard that was open at the retirement has closed.
struct region {
  static constexpr smr::scheme_info info = {"eager-region",
                                            "Regions, at once",
                                            "",
                                            2026,
                                            smr::protection::region,
                                            "blocking",
                                            "blocking",
                                            false,
                                            "",
                                            "",
                                            0};
  struct header {};
  class domain {
   public:
    ~domain() { sweep(); }
    void synchronize() {}
    void drain() { sweep(); }
    smr::garbage statistics() { return {}; }

   private:
    friend region;
    struct waiting {
      retired what;
      unsigned long since;
    };
    void sweep() {
      std::size_t kept = 0;
      const unsigned long oldest = open_.empty() ? clock_ + 1 : open_.front();
      for (const waiting& w : waiting_) {
        if (w.since < oldest) {
          w.what.reclaim(w.what.object);
        } else {
          waiting_[kept++] = w;
        }
      }
      waiting_.resize(kept);
    }
    std::mutex lock_;
    unsigned long clock_ = 0;
    std::vector<unsigned long> open_;  // ascending
    std::vector<waiting> waiting_;
  };
  template <unsigned Slots>
  class guard : public making<guard<Slots>> {
   public:
    explicit guard(domain& d) : domain_(d) {
      const std::lock_guard<std::mutex> l(d.lock_);
      d.open_.push_back(since_ = ++d.clock_);
    }
    ~guard() {
      const std::lock_guard<std::mutex> l(domain_.lock_);
      std::erase(domain_.open_, since_);
      domain_.sweep();
    }
    guard(const guard&) = delete;
    guard& operator=(const guard&) = delete;
    template <class W>
    W protect(unsigned, const atomic<W>& word) {
      return word.load(order::acquire);  // sync: structure
    }
    void hold(unsigned, const void*) {}
    void clear(unsigned) {}
    void put(retired r) {
      const std::lock_guard<std::mutex> l(domain_.lock_);
      domain_.waiting_.push_back({r, domain_.clock_});
    }

   private:
    domain& domain_;
    unsigned long since_;
  };
};

// Frees when no slot holds the object, and looks at each retirement.
struct hazard {
  static constexpr smr::scheme_info info = {"eager-hazard",
                                            "Pointers, at once",
                                            "",
                                            2026,
                                            smr::protection::pointer,
                                            "blocking",
                                            "blocking",
                                            true,
                                            "",
                                            "",
                                            0};
  struct header {};
  using slot = atomic<const void*>;
  class domain {
   public:
    ~domain() { sweep(); }
    void synchronize() {}
    void drain() { sweep(); }
    smr::garbage statistics() { return {}; }

   private:
    friend hazard;
    void sweep() {
      std::size_t kept = 0;
      for (const retired& r : waiting_) {
        bool held = false;
        for (const auto& [slots, n] : open_) {
          for (unsigned i = 0; i != n; ++i)
            held |= slots[i].load(order::seq_cst) == r.object;  // sync: held-or-unlinked
        }
        if (held) {
          waiting_[kept++] = r;
        } else {
          r.reclaim(r.object);
        }
      }
      waiting_.resize(kept);
    }
    std::mutex lock_;
    std::vector<std::pair<const slot*, unsigned>> open_;
    std::vector<retired> waiting_;
  };
  template <unsigned Slots>
  class guard : public making<guard<Slots>> {
   public:
    explicit guard(domain& d) : domain_(d) {
      const std::lock_guard<std::mutex> l(d.lock_);
      d.open_.push_back({slots_, Slots});
    }
    ~guard() {
      const std::lock_guard<std::mutex> l(domain_.lock_);
      std::erase(domain_.open_, std::pair<const slot*, unsigned>{slots_, Slots});
      domain_.sweep();
    }
    guard(const guard&) = delete;
    guard& operator=(const guard&) = delete;
    template <class W>
    W protect(unsigned s, const atomic<W>& word) {
      if (s >= Slots) __builtin_trap();
      static thread_local unsigned turn = 0;
      for (W now = word.load(order::acquire);;) {  // sync: structure
        // What was read is freed now, if ever. On a busy machine each yield is a slice of time, so there are few later on.
        ++turn;
        if (turn % (turn < 2048 ? 8 : 512) == 0) std::this_thread::yield();
        slots_[s].store(address_of_any(now), order::seq_cst);  // sync: held-or-unlinked: before the second look
        const W again = word.load(order::seq_cst);             // sync: held-or-unlinked, structure
        if (again == now) return now;
        now = again;
      }
    }
    void hold(unsigned s, const void* p) {
      slots_[s].store(p, order::seq_cst);  // sync: held-or-unlinked
    }
    void clear(unsigned s) {
      slots_[s].store(nullptr, order::release);  // sync: held-or-unlinked
    }
    void put(retired r) {
      const std::lock_guard<std::mutex> l(domain_.lock_);
      domain_.waiting_.push_back(r);
      domain_.sweep();
    }

   private:
    template <class W>
    static const void* address_of_any(W w) {
      using smr::address_of;
      return address_of(w);
    }
    domain& domain_;
    slot slots_[Slots];
  };
};

static_assert(smr::reclaimer<leaky> && smr::reclaimer<region> && smr::reclaimer<hazard>);

}  // namespace polder::ds::eager
