#pragma once
// collection — put and get, as users see them, over what a structure does with elements that cannot throw.
//
//   template <class T, class R> class foo : public collection<foo<T, R>, T, in_node<T>>
//
// foo has  bool insert(kept& e)              false: it is full, and e is as it was. Throws std::bad_alloc, changing nothing
//          std::optional<kept> remove()      nothing: it is empty, or it would wait and one has come back (has_returned())
// and public names of its own by `using queue_names<foo, T>` or stack_names, which are put and get in other words.
//
//   progress   insert's and remove's. Of a T whose move throws: an element that could not be handed over goes to a list that
//              the next get looks at first, so it is late at worst; on that list gets wait for each other
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <polder/ds/parts/element.hpp>
#include <polder/ds/parts/sleeping_lock.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::ds {

// Boxes that came back, the last of them first. Under a lock: whoever takes one must read which is next, and neither hide the
// others meanwhile nor find that one freed.
template <class T>
class returned {
 public:
  returned() = default;
  returned(const returned&) = delete;
  returned& operator=(const returned&) = delete;
  ~returned() {
    for (box<T>* b = first_.load(order::relaxed); b != nullptr;) delete std::exchange(b, b->next);
  }

  void give(box<T>* b) noexcept {
    const holding l(lock_);
    b->next = first_.load(order::relaxed);
    first_.store(b, order::relaxed);
    gifts_.store(gifts_.load(order::relaxed) + 1, order::release);  // sync: returned
  }
  // Null: there was none.
  box<T>* take() noexcept {
    if (first_.load(order::relaxed) == nullptr) return nullptr;
    const holding l(lock_);
    box<T>* const b = first_.load(order::relaxed);
    if (b != nullptr) first_.store(std::exchange(b->next, nullptr), order::relaxed);
    return b;
  }
  // For who waits meanwhile. Under the lock: who hears of one sees the count that came with it.
  bool some() noexcept {
    if (first_.load(order::relaxed) == nullptr) return false;
    const holding l(lock_);
    return first_.load(order::relaxed) != nullptr;
  }
  // How many came, ever. Who finds none, and then as many as before, knows that there was none in between.
  std::uint64_t gifts() const noexcept { return gifts_.load(order::acquire); }  // sync: returned

 private:
  sleeping_lock lock_;
  // first_ — written under the lock; read without it, to pass by. Order: gifts_ brings it.
  atomic<box<T>*> first_;
  // gifts_ — written under the lock; read by all who look whether there is one.
  //   order  returned: who sees the count finds the box, or comes after who took it
  //   ABA    it only grows
  atomic<std::uint64_t> gifts_;
};

struct never_returned {};

template <class Self, class T, class Element>
class collection {
 public:
  using value_type = T;

  // False: it is full, and the value is as it was. Throws std::bad_alloc, or what T's move throws: nothing changed.
  bool put(T&& value) { return put_at(std::move(value)); }
  bool put(const T& value)
    requires std::is_copy_constructible_v<T>
  {
    return put(T(value));
  }

  // Nothing: it is empty. If T's move throws, the element is put back.
  std::optional<T> get() { return get_at(); }

 protected:
  using kept = typename Element::kept;
  static constexpr bool throws = !std::is_nothrow_move_constructible_v<T>;

  collection() = default;
  ~collection() = default;

  // An element came back that could not be handed over: a remove() that waits ends, for get looks there.
  bool has_returned() noexcept {
    if constexpr (throws) return returned_.some();
    else return false;
  }

  // put and get of a structure whose insert and remove are told where.
  template <class... Where>
  bool put_at(T&& value, Where... where) {
    kept e = Element::keep(std::move(value));
    try {
      if (self().insert(e, where...)) return true;
    } catch (...) {
      give_back(e, value);
      throw;
    }
    give_back(e, value);
    return false;
  }
  template <class... Where>
  std::optional<T> get_at(Where... where) {
    if constexpr (throws) {
      for (;;) {
        const std::uint64_t before = returned_.gifts();
        if (box<T>* const b = returned_.take()) return opened(b);
        std::optional<kept> e = self().remove(where...);
        if (e) return opened(Element::box_of(std::move(*e)));
        // Else one may have come back before another get took the last that was inside.
        if (returned_.gifts() == before) return std::nullopt;
      }
    } else {
      std::optional<kept> e = self().remove(where...);
      if (!e) return std::nullopt;
      return std::optional<T>(Element::release(std::move(*e)));
    }
  }

 private:
  Self& self() noexcept { return static_cast<Self&>(*this); }

  std::optional<T> opened(box<T>* b) {
    struct keeper {
      collection& of;
      box<T>* b;
      ~keeper() {
        if (b != nullptr) of.returned_.give(b);
      }
    } guard{*this, b};
    std::optional<T> out(std::move(b->value));
    delete std::exchange(guard.b, nullptr);
    return out;
  }
  // An element that did not get in, back in the value that it was moved from. Where neither way back is sure not to throw and
  // it does, or there is but the one that makes it anew, the element is destroyed: it was never inside.
  static void give_back(kept& e, T& value) {
    if constexpr (std::is_same_v<kept, T>) {
      assign(value, std::move(e));
    } else if constexpr (!Element::whole) {
      const std::unique_ptr<box<T>> b(Element::box_of(std::move(e)));
      assign(value, std::move(b->value));
    }
  }
  static void assign(T& to, T&& from) {
    // Rather than an assignment that may throw.
    constexpr bool made_anew = std::is_nothrow_move_constructible_v<T> && !std::is_nothrow_move_assignable_v<T>;
    if constexpr (made_anew) {
      std::destroy_at(std::addressof(to));
      std::construct_at(std::addressof(to), std::move(from));
    } else if constexpr (std::is_move_assignable_v<T>) {
      to = std::move(from);
    }  // else nothing: were it destroyed and could not be made anew, its owner would destroy it once more
  }

  [[no_unique_address]] std::conditional_t<throws, returned<T>, never_returned> returned_;
};

// put and get by the names of their shape.
template <class Self, class T>
struct queue_names {
  bool enqueue(T&& value) { return static_cast<Self*>(this)->put(std::move(value)); }
  bool enqueue(const T& value)
    requires std::is_copy_constructible_v<T>
  {
    return static_cast<Self*>(this)->put(value);
  }
  std::optional<T> dequeue() { return static_cast<Self*>(this)->get(); }
};

template <class Self, class T>
struct stack_names {
  bool push(T&& value) { return static_cast<Self*>(this)->put(std::move(value)); }
  bool push(const T& value)
    requires std::is_copy_constructible_v<T>
  {
    return static_cast<Self*>(this)->put(value);
  }
  std::optional<T> pop() { return static_cast<Self*>(this)->get(); }
};

}  // namespace polder::ds
