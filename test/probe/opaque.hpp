#pragma once
// opaque — a value the compiler knows nothing about: neither where a pointer came from nor that it was freed.

namespace polder::probe {

template <class T>
inline T opaque(T value) {
  asm volatile("" : "+r"(value) : : "memory");
  return value;
}

}  // namespace polder::probe
