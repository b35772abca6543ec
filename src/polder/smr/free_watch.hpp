#pragma once
// free_watch — who wants to see each call by which a domain frees: how long it takes, how many follow each other.
//
// A domain without one tests a pointer before each call, and that is all. Called by the thread that frees, which may be
// the domain's own (background.hpp), around the call: what it does itself is not in the time between.
#include <cstddef>
#include <cstdint>

namespace polder::smr {

class free_watch {
 public:
  // What it returns, after() gets back.
  virtual std::uint64_t before() noexcept = 0;
  // A call freed so many objects: one, or a batch.
  virtual void after(std::uint64_t before, std::size_t objects) noexcept = 0;

  // call() frees `objects` objects; `watch` may be null.
  template <class Call>
  [[gnu::always_inline]] static void see(free_watch* watch, std::size_t objects, Call&& call) {
    if (watch == nullptr) [[likely]]
      return call();
    const std::uint64_t began = watch->before();
    call();
    watch->after(began, objects);
  }

 protected:
  ~free_watch() = default;
};

}  // namespace polder::smr
