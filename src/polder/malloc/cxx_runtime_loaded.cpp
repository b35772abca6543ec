// The C++ run-time library may or may not be there, and may have come later: see cxx_runtime.hpp. Compiled with
// exceptions, for the one catch.
//
// All references are weak. Where the dynamic linker has bound them to nothing (the program is written in C and has
// loaded a C++ library since, for itself alone), the loaded objects are searched by hand: dlopen and dlsym allocate,
// and this is where there is no memory. libstdc++ and libc++ export the same names.
#include <cstdlib>
#include <new>

#include <polder/malloc/cxx_runtime.hpp>
#include <polder/os/loaded_symbol.hpp>
#include <polder/os/print.hpp>

namespace std {
[[noreturn, gnu::weak]] void __throw_bad_alloc();  // in both libraries
[[gnu::weak]] new_handler get_new_handler() noexcept;
}  // namespace std

__asm__(
    ".weak __cxa_begin_catch\n"
    ".weak __cxa_end_catch\n"
    ".weak __gxx_personality_v0\n"
    ".weak _ZSt9terminatev\n");

namespace polder::face {
namespace {

template <class F>
F* found(F* bound, const char* name) {
  return bound != nullptr ? bound : reinterpret_cast<F*>(os::loaded_symbol(name));
}

}  // namespace

bool call_new_handler() {
  const auto get = found<std::new_handler() noexcept>(std::get_new_handler, "_ZSt15get_new_handlerv");
  const std::new_handler handler = get != nullptr ? get() : nullptr;
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

void throw_bad_alloc() {
  if (const auto thrower = found<void()>(std::__throw_bad_alloc, "_ZSt17__throw_bad_allocv")) thrower();
  os::line() << "polder: out of memory in operator new, and no C++ run-time library is loaded that could throw "
                "std::bad_alloc";
  std::abort();
}

}  // namespace polder::face
