#pragma once
// cxx_runtime — the three things that operator new needs of a C++ run-time library, which the preload library must not
// need: many of the programs it serves are written in C.
//
//   cxx_runtime_loaded.cpp   finds them at run time in whatever the program has loaded: libpolder.so, the object target
//   cxx_runtime_linked.cpp   takes them from the linker: libpolder.a, whose operator new is linked into C++ programs only

namespace polder::face {

// Calls the installed new-handler. False: there is none. It may throw.
bool call_new_handler();

// The same for `new (std::nothrow)`. False: there is none, or it threw (what is then forgotten).
bool call_new_handler_or_catch() noexcept;

// Throws std::bad_alloc; without a C++ run-time library in the process, one line and abort().
[[noreturn]] void throw_bad_alloc();

}  // namespace polder::face
