#pragma once
// guard — what the guards of all schemes share, and limbo_scheme: a scheme of bags as structures see it (reclaimer.hpp).
#include <memory>
#include <type_traits>
#include <utility>

#include <polder/smr/limbo_domain_whole.hpp>
#include <polder/smr/misuse.hpp>
#include <polder/smr/reclaimer.hpp>

namespace polder::smr {

template <unsigned Slots>
[[gnu::always_inline]] inline void slot_in_range(std::string_view scheme, unsigned slot) noexcept {
#if POLDER_CHECK_LEVEL > 0
  if (slot >= Slots) misused(scheme, "there is no slot ", slot, " in this guard");
#else
  static_cast<void>(scheme), static_cast<void>(slot);
#endif
}

// What a guard of any scheme does besides protecting. Domain is the scheme's; its records are made by Record:
//   static record note(object, kind, header)      header: where the object's is, or null: it has none
template <class Domain, class Header, class Record>
class retiring_guard {
 public:
  retiring_guard(const retiring_guard&) = delete;
  retiring_guard& operator=(const retiring_guard&) = delete;

  // Throws what the constructor throws, and std::bad_alloc.
  template <class T, class... Arguments>
  [[nodiscard]] T* make(Arguments&&... arguments) {
    T* const made = domain_.template make<T>(member_, std::forward<Arguments>(arguments)...);
    if constexpr (std::is_base_of_v<Header, T> && !std::is_empty_v<Header>) domain_.born(member_, *made);
    return made;
  }
  // Of an object that no other thread has seen.
  template <class T>
  void unmake(T* object) noexcept {
    made_kind<T>.reclaim(object);
  }

  // The object is unlinked: no guard opened from now on can reach it. It was made by make() or new. Where single pointers
  // are protected they are compared with this one: it is the same address, not that of another base.
  template <class T>
  void retire(T* object) {
    retire(object, std::default_delete<T>{});
  }

  // With a deleter; one that carries state is moved into an object of its own (throws std::bad_alloc, retiring nothing).
  template <class T, class Deleter>
  void retire(T* object, Deleter deleter) {
    if constexpr (std::is_empty_v<Deleter> && std::is_default_constructible_v<Deleter>) {
      retire_as(without_const(object), kind_for<T, Deleter>(), header_of(object));
    } else {
      using wrapped = with_deleter<T, Deleter>;
      retire_as(new wrapped{object, std::move(deleter)}, made_kind<wrapped>, header_of(object));
    }
  }

 protected:
  [[gnu::always_inline]] explicit retiring_guard(Domain& d) : domain_(d), member_(d.open()) {}
  ~retiring_guard() = default;

  template <class T>
  static const Header* header_of(const T* object) noexcept {
    if constexpr (std::is_base_of_v<Header, T>) return object;
    else return nullptr;
  }

  Domain& domain_;
  typename Domain::member& member_;

 private:
  void retire_as(void* object, const kind& of, const Header* header) {
    domain_.retire(member_, Record::note(object, of, header));
  }
};

// An object and its kind are all that a scheme without eras must know.
struct bare_record {
  static retired_object note(void* object, const kind& k, const void*) noexcept { return {object, &k}; }
};

template <class Core>
class limbo_scheme {
 public:
  static constexpr scheme_info info = Core::info;

  struct header {};

  class domain : public limbo_domain<Core> {
   public:
    using limbo_domain<Core>::limbo_domain;
  };

  // Slots are for schemes that protect single pointers; here everything that can be reached is protected.
  template <unsigned Slots>
  class guard : public retiring_guard<domain, header, bare_record> {
    using base = retiring_guard<domain, header, bare_record>;

   public:
    [[gnu::always_inline]] explicit guard(domain& d) : base(d) {}
    [[gnu::always_inline]] ~guard() { this->domain_.close(this->member_); }

    // Reads the word; what it points to stays readable until the guard closes.
    template <class W>
    [[gnu::always_inline]] W protect(unsigned slot, const atomic<W>& source) const noexcept {
      in_range(slot);
      return source.load(order::acquire);  // sync: structure: who wrote the word made the node whole before
    }
    [[gnu::always_inline]] void hold(unsigned slot, const void*) const noexcept { in_range(slot); }
    [[gnu::always_inline]] void clear(unsigned slot) const noexcept { in_range(slot); }

   private:
    [[gnu::always_inline]] static void in_range(unsigned slot) noexcept { slot_in_range<Slots>(info.name, slot); }
  };
};

}  // namespace polder::smr
