// The C++ run-time library is linked: see cxx_runtime.hpp. Compiled with exceptions.
#include <new>

#include <polder/malloc/cxx_runtime.hpp>

namespace polder::face {
namespace {

template <class Throwing>
void* caught(Throwing throwing) noexcept {
  try {
    return throwing();
  } catch (...) {
    return nullptr;
  }
}

}  // namespace

bool call_new_handler() {
  const std::new_handler handler = std::get_new_handler();
  if (handler == nullptr) return false;
  handler();
  return true;
}

bool has_new_handler() noexcept { return std::get_new_handler() != nullptr; }

nothrow_new* catching_new() noexcept {
  return [](std::size_t n, const std::nothrow_t&) noexcept { return caught([n] { return ::operator new(n); }); };
}
nothrow_new* catching_array_new() noexcept {
  return [](std::size_t n, const std::nothrow_t&) noexcept { return caught([n] { return ::operator new[](n); }); };
}
nothrow_aligned_new* catching_aligned_new() noexcept {
  return [](std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
    return caught([n, a] { return ::operator new(n, a); });
  };
}
nothrow_aligned_new* catching_aligned_array_new() noexcept {
  return [](std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
    return caught([n, a] { return ::operator new[](n, a); });
  };
}

void throw_bad_alloc() { throw std::bad_alloc(); }

}  // namespace polder::face
