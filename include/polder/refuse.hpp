#pragma once
// refuse — how an allocator says that there is no memory: it throws, and where exceptions are off, the program ends. Of a
// program that has files of both kinds, the linker decides.
#include <cstdlib>

namespace polder {

template <class Exception>
[[noreturn]] void refuse() {
#ifdef __cpp_exceptions
  throw Exception();
#else
  std::abort();
#endif
}

}  // namespace polder
