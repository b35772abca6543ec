#pragma once
// slots — room for so many objects, of which the owner knows how many there are; none at all for an empty type that is made
// from nothing.
#include <memory>
#include <type_traits>

namespace polder::ds {

template <class T, unsigned N>
class slots {
 public:
  slots() noexcept {}
  slots(const slots&) = delete;
  slots& operator=(const slots&) = delete;
  ~slots() = default;
  ~slots()
    requires(!std::is_trivially_destructible_v<T>)
  {}  // the owner has called destroy()

  const T& operator[](unsigned i) const noexcept { return items_[i]; }
  void make(unsigned i, const T& from) { std::construct_at(std::addressof(items_[i]), from); }
  void destroy(unsigned i) noexcept { std::destroy_at(std::addressof(items_[i])); }

 private:
  union {
    T items_[N];
  };
};

template <class T, unsigned N>
  requires(std::is_empty_v<T> && std::is_trivially_copyable_v<T> && std::is_default_constructible_v<T>)
class slots<T, N> {
 public:
  T operator[](unsigned) const noexcept { return T(); }
  void make(unsigned, const T&) noexcept {}
  void destroy(unsigned) noexcept {}
};

}  // namespace polder::ds
