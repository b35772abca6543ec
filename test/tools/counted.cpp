// counted N — calls every function that allocates, in the order of the table: the first N times, the second 2 N times, and so on.
// Nothing else in it allocates, so `counted N` has exactly as many calls more than `counted 0`.
#include <malloc.h>

#include <cstdlib>
#include <new>

#include "../probe/opaque.hpp"

using polder::probe::opaque;

namespace {

using made = void*;

constexpr struct {
  const char* symbol;
  made (*call)();
} functions[] = {
    {"malloc", [] { return std::malloc(opaque(40)); }},
    {"calloc", [] { return std::calloc(opaque(4), 10); }},
    {"realloc", [] { return std::realloc(nullptr, std::size_t(opaque(50))); }},
    {"reallocarray", [] { return ::reallocarray(nullptr, 5, std::size_t(opaque(10))); }},
    {"memalign", [] { return std::aligned_alloc(64, std::size_t(opaque(64))); }},
    {"posix_memalign",
     [] {
       void* p = nullptr;
       return ::posix_memalign(&p, 128, std::size_t(opaque(64))) == 0 ? p : nullptr;
     }},
    {"valloc", [] { return ::valloc(std::size_t(opaque(64))); }},
    {"pvalloc", [] { return ::pvalloc(std::size_t(opaque(64))); }},
    {"_Znwm", [] { return ::operator new(std::size_t(opaque(40))); }},
    {"_ZnwmRKSt9nothrow_t", [] { return ::operator new(std::size_t(opaque(40)), std::nothrow); }},
    {"_ZnwmSt11align_val_t", [] { return ::operator new(std::size_t(opaque(64)), std::align_val_t{64}); }},
    {"_ZnwmSt11align_val_tRKSt9nothrow_t",
     [] { return ::operator new(std::size_t(opaque(64)), std::align_val_t{64}, std::nothrow); }},
    {"_Znam", [] { return ::operator new[](std::size_t(opaque(40))); }},
    {"_ZnamRKSt9nothrow_t", [] { return ::operator new[](std::size_t(opaque(40)), std::nothrow); }},
    {"_ZnamSt11align_val_t", [] { return ::operator new[](std::size_t(opaque(64)), std::align_val_t{64}); }},
    {"_ZnamSt11align_val_tRKSt9nothrow_t",
     [] { return ::operator new[](std::size_t(opaque(64)), std::align_val_t{64}, std::nothrow); }},
};

}  // namespace

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 0;
  for (int times = n; const auto& f : functions) {
    for (int i = 0; i < times; ++i) std::free(opaque(f.call()));
    times += n;
  }
}
