#pragma once
// cxx_runtime — what operator new needs of a C++ run-time library, which the preload library must not need: many of the
// programs it serves are written in C.
//
//   cxx_runtime_loaded.cpp   finds it at run time in whatever the program has loaded: libpolder.so, the object target
//   cxx_runtime_linked.cpp   takes it from the linker: libpolder.a, whose operator new is linked into C++ programs only
#include <cstddef>
#include <new>

namespace polder::face {

// Calls the installed new-handler. False: there is none. It may throw.
bool call_new_handler();

bool has_new_handler() noexcept;

using nothrow_new = void*(std::size_t n, const std::nothrow_t&) noexcept;
using nothrow_aligned_new = void*(std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept;

// `new (std::nothrow)` as the run-time library has it: calls the throwing form of that name, whosever it is, and
// answers null where that throws. Null: no library is found.
nothrow_new* catching_new() noexcept;
nothrow_new* catching_array_new() noexcept;
nothrow_aligned_new* catching_aligned_new() noexcept;
nothrow_aligned_new* catching_aligned_array_new() noexcept;

// Throws std::bad_alloc; without a C++ run-time library in the process, one line and abort().
[[noreturn]] void throw_bad_alloc();

}  // namespace polder::face
