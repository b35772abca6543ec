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

void* new_again_or_null(std::size_t n, std::size_t alignment) noexcept {
  if (std::get_new_handler() == nullptr) return nullptr;
  try {
    return ::operator new(n, std::align_val_t(alignment));
  } catch (...) {
    return nullptr;
  }
}

void throw_bad_alloc() { throw std::bad_alloc(); }

}  // namespace polder::face
