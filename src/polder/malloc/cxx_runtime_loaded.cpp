// The C++ run-time library may or may not be there, and may have come later: see cxx_runtime.hpp.
//
// The references are weak. Where the dynamic linker has bound them to nothing (the program is written in C and has
// loaded a C++ library since, for itself alone), the loaded objects are searched by hand: dlopen and dlsym allocate,
// and this is where there is no memory. libstdc++ and libc++ export the same names.
#include <cerrno>
#include <cstdlib>
#include <new>

#include <polder/malloc/cxx_runtime.hpp>
#include <polder/os/loaded_symbol.hpp>
#include <polder/os/print.hpp>

namespace std {
[[gnu::noreturn, gnu::weak]] void __throw_bad_alloc();  // in both libraries
[[gnu::weak]] new_handler get_new_handler() noexcept;
}  // namespace std

namespace polder::face {
namespace {

constexpr const char* get_new_handler_name = "_ZSt15get_new_handlerv";

template <class F>
F* found(F* bound, const char* name) {
  return bound != nullptr ? bound : reinterpret_cast<F*>(os::loaded_symbol(name));
}

std::new_handler installed_handler() {
  const auto get = found<std::new_handler() noexcept>(std::get_new_handler, get_new_handler_name);
  return get != nullptr ? get() : nullptr;
}

}  // namespace

bool call_new_handler() {
  const std::new_handler handler = installed_handler();
  if (handler == nullptr) return false;
  handler();
  return true;
}

// Only code that was linked against the run-time library can catch: its own nothrow form does, around a call of the
// throwing form, which is ours.
void* new_again_or_null(std::size_t n, std::size_t alignment) noexcept {
  if (installed_handler() == nullptr) return nullptr;
  using nothrow_form = void*(std::size_t, std::align_val_t, const std::nothrow_t&) noexcept;
  const auto theirs = reinterpret_cast<nothrow_form*>(
      os::loaded_symbol_beside("_ZnwmSt11align_val_tRKSt9nothrow_t", get_new_handler_name));
  return theirs != nullptr ? theirs(n, std::align_val_t(alignment), std::nothrow_t()) : nullptr;
}

void throw_bad_alloc() {
  if (const auto thrower = found<void()>(std::__throw_bad_alloc, "_ZSt17__throw_bad_allocv")) thrower();
  os::line() << "polder: out of memory in operator new, and no C++ run-time library is loaded that could throw "
                "std::bad_alloc";
  std::abort();
}

}  // namespace polder::face
