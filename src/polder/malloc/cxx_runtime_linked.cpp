// The C++ run-time library is linked: see cxx_runtime.hpp. Compiled with exceptions.
#include <new>

#include <polder/malloc/cxx_runtime.hpp>

namespace polder::face {

bool call_new_handler() {
  const std::new_handler handler = std::get_new_handler();
  if (handler == nullptr) return false;
  handler();
  return true;
}

bool call_new_handler_or_catch() noexcept {
  try {
    return call_new_handler();
  } catch (...) {
    return false;
  }
}

void throw_bad_alloc() { throw std::bad_alloc(); }

}  // namespace polder::face
