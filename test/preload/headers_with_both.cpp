// With RTTI and exceptions.
#include <polder/memory_resource.hpp>

#include "headers.hpp"

#if !defined(__cpp_rtti) || !defined(__cpp_exceptions)
#error "compiled with the flags of headers.cpp"
#endif

bool headers::two_resources_are_equal() {
  const polder::memory_resource other;
  return polder::resource()->is_equal(other);
}
