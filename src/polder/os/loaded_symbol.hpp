#pragma once
// loaded_symbol — a function exported by any object that is loaded now, in whatever scope, without allocating.
//
//   in malloc  only on the way to throwing std::bad_alloc: it waits for a dlopen or dlclose that runs in another thread

namespace polder::os {

// The first definition in load order; versions are not looked at. Null when there is none.
void* loaded_symbol(const char* name) noexcept;

// The same, among objects that also define `beside`: tells one definition of a name from another.
void* loaded_symbol_beside(const char* name, const char* beside) noexcept;

// Of the vDSO, which the kernel brings along; null, too, where it brings none. Waits for nobody, keeps errno, and may run anywhere.
void* vdso_symbol(const char* name) noexcept;

}  // namespace polder::os
