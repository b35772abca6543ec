#pragma once
// zeroed — objects in pages of their own from the system, which come as zeroes: their first state.
//
//   progress   one system call
//   in malloc  yes
//
// In the world of the model checker, which has to be told of every atomic, they are constructed: zeroed_model.hpp.
#if defined(POLDER_MODEL)
#include <polder/mem/zeroed_model.hpp>
#else
#include <cstddef>

#include <polder/base/align.hpp>
#include <polder/os/pages.hpp>

namespace polder::mem {

struct zeroed {
  template <class T>
  static std::size_t bytes(std::size_t count) noexcept {
    return align_up(count * sizeof(T), os::page_size());
  }
  // Null: the system refuses.
  template <class T>
  static T* make(std::size_t count) noexcept {
    return static_cast<T*>(os::map(bytes<T>(count)));
  }
  template <class T>
  static void discard(T* p, std::size_t count) noexcept {
    os::unmap(p, bytes<T>(count));
  }
};

}  // namespace polder::mem

#endif
