#pragma once
// kind — what must be known to free an object later, once for each pair of type and deleter.
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>

namespace polder::smr {

struct kind {
  std::size_t bytes;
  std::size_t (*weigh)(const void*);  // null: every object of the kind weighs `bytes`. Constant through its life
  void (*destroy)(void*) noexcept;    // the destructor alone; null: there is nothing to do. For heap blocks only
  void (*reclaim)(void*) noexcept;    // the deleter
  bool heap_block;                    // reclaim is destroy and ::operator delete of memory aligned as malloc's
  const void* (*guarded)(const void*) = nullptr;  // what guards know it by; null: its own address
  bool may_repeat = false;  // the deleter need not delete: others of the same object may wait meanwhile
};

// A type whose objects differ in size says how many bytes one takes: `std::size_t weight() const`.
template <class T>
concept weighs_itself = requires(const T& object) {
  { object.weight() } -> std::convertible_to<std::size_t>;
};

namespace kinds {

template <class T>
constexpr auto weigher() -> std::size_t (*)(const void*) {
  if constexpr (weighs_itself<T>)
    return [](const void* p) -> std::size_t { return static_cast<const T*>(p)->weight(); };
  else return nullptr;
}

template <class T>
constexpr auto destructor() -> void (*)(void*) noexcept {
  if constexpr (std::is_trivially_destructible_v<T>) return nullptr;
  else return [](void* p) noexcept { std::destroy_at(static_cast<T*>(p)); };
}

}  // namespace kinds

// A deleter is an empty, default-constructible type; what carries state goes into an object of its own (retire does it).
template <class T, class Deleter>
inline constexpr kind kind_of = {sizeof(T), kinds::weigher<T>(), nullptr,
                                 [](void* p) noexcept { Deleter{}(static_cast<T*>(p)); }, false};

// An object that is retired as const has its kind and its deleter for const: a record of it has not.
template <class T>
void* without_const(T* object) noexcept {
  return const_cast<std::remove_const_t<T>*>(object);
}

// A type that brings its own memory, or sees it go: it goes back there, never in a batch.
template <class T>
concept has_own_new = requires { T::operator new(std::size_t{}); };
template <class T>
concept has_own_delete =
    requires(T* p) { T::operator delete(p); } || requires(T* p) { T::operator delete(p, sizeof(T)); } ||
    requires(T* p) { T::operator delete(p, std::destroying_delete); } ||
    requires(T* p) { T::operator delete(p, std::destroying_delete, sizeof(T)); };

// A T may be a base of what is deleted, which brings its own memory, or is aligned more, or begins elsewhere.
template <class T>
inline constexpr bool may_be_a_base = std::has_virtual_destructor_v<T> && !std::is_final_v<T>;

// An object that is retired with a deleter that carries state. It waits in the other's place: guards know that one.
template <class T, class Deleter>
struct with_deleter {
  T* object;
  Deleter deleter;
  ~with_deleter() { deleter(object); }
  // Both wait.
  std::size_t weight() const
    requires(!std::is_void_v<T>)
  {
    if constexpr (weighs_itself<T>) return sizeof(with_deleter) + object->weight();
    else return sizeof(with_deleter) + sizeof(T);
  }
};

namespace kinds {

template <class T>
inline constexpr const void* (*guarded)(const void*) = nullptr;
template <class T, class Deleter>
inline constexpr const void* (*guarded<with_deleter<T, Deleter>>)(const void*) = [](const void* p) -> const
    void* { return static_cast<const with_deleter<T, Deleter>*>(p)->object; };

}  // namespace kinds

// What make() makes: operator new's memory.
template <class T>
inline constexpr kind made_kind = {
    sizeof(T),
    kinds::weigher<T>(),
    kinds::destructor<T>(),
    [](void* p) noexcept { delete static_cast<T*>(p); },
    alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__ && !has_own_new<T> && !has_own_delete<T> && !may_be_a_base<T>,
    kinds::guarded<T>};

// std::default_delete means the same as make(): so it is the kind that can go back in batches.
template <class T, class Deleter>
constexpr const kind& kind_for() {
  if constexpr (std::is_same_v<Deleter, std::default_delete<T>>) return made_kind<std::remove_const_t<T>>;
  else return kind_of<T, Deleter>;
}

// An object that waits to be reclaimed.
struct retired_object {
  void* object;
  const kind* of;
  std::size_t weight() const { return of->weigh != nullptr ? of->weigh(object) : of->bytes; }
  const void* guarded() const { return of->guarded != nullptr ? of->guarded(object) : object; }
};

}  // namespace polder::smr
