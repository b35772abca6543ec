#pragma once
// cxx_runtime — what operator new needs of a C++ run-time library, which the preload library must not need: many of the
// programs it serves are written in C.
//
//   cxx_runtime_loaded.cpp   finds it at run time in whatever the program has loaded: libpolder.so, the object target
//   cxx_runtime_linked.cpp   takes it from the linker: libpolder.a, whose operator new is linked into C++ programs only
#include <cstddef>

namespace polder::face {

// Calls the installed new-handler. False: there is none. It may throw.
bool call_new_handler();

// `new (std::nothrow)` after a first attempt without luck: calls the new-handler and tries again for as long as there
// is one. Null: there is none any more, or it threw.
void* new_again_or_null(std::size_t n, std::size_t alignment) noexcept;

// Throws std::bad_alloc; without a C++ run-time library in the process, one line and abort().
[[noreturn]] void throw_bad_alloc();

}  // namespace polder::face
