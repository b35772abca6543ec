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

// Only code that was linked against the run-time library can catch: its own nothrow forms do. `bound` is what the
// process calls by that name; where the library's object has no other (it is linked into the program, as the heap is),
// it would lead back here.
template <class Form>
Form* catching(const char* name, Form* bound) {
  const auto theirs = reinterpret_cast<Form*>(os::loaded_symbol_beside(name, get_new_handler_name));
  return theirs != bound ? theirs : nullptr;
}

}  // namespace

bool call_new_handler() {
  const std::new_handler handler = installed_handler();
  if (handler == nullptr) return false;
  handler();
  return true;
}

bool has_new_handler() noexcept { return installed_handler() != nullptr; }

nothrow_new* catching_new() noexcept { return catching<nothrow_new>("_ZnwmRKSt9nothrow_t", ::operator new); }
nothrow_new* catching_array_new() noexcept {
  return catching<nothrow_new>("_ZnamRKSt9nothrow_t", ::operator new[]);
}
nothrow_aligned_new* catching_aligned_new() noexcept {
  return catching<nothrow_aligned_new>("_ZnwmSt11align_val_tRKSt9nothrow_t", ::operator new);
}
nothrow_aligned_new* catching_aligned_array_new() noexcept {
  return catching<nothrow_aligned_new>("_ZnamSt11align_val_tRKSt9nothrow_t", ::operator new[]);
}

void throw_bad_alloc() {
  if (const auto thrower = found<void()>(std::__throw_bad_alloc, "_ZSt17__throw_bad_allocv")) thrower();
  os::line() << "polder: out of memory in operator new, and no C++ run-time library is loaded that could throw "
                "std::bad_alloc";
  std::abort();
}

}  // namespace polder::face
