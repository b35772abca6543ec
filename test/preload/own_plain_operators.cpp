// A program that replaces only the plain operator new and delete, and the aligned ones, each block with a header before
// it, as programs do that count. [new.delete]: every other form goes through these, so no block may reach the heap's
// free with the header before it, and none of the heap's comes here.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

#include "../probe/opaque.hpp"
#include "subject.hpp"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wsized-deallocation"  // that there is no sized form is the point
#endif

namespace {

using polder::probe::opaque;

constexpr std::size_t header = 16, wide = 256;
constexpr auto wide_alignment = std::align_val_t(wide);

struct counts {
  std::size_t made, live;
};
counts plain, aligned;
bool refuses = false;

void* with_header(counts& c, std::size_t alignment, std::size_t n) {
  const std::size_t room = std::max(alignment, header);
  char* const block =
      refuses ? nullptr : static_cast<char*>(std::aligned_alloc(room, (n + 2 * room - 1) / room * room));
  if (block == nullptr) throw std::bad_alloc();
  ++c.made;
  ++c.live;
  char* const p = block + room;
  reinterpret_cast<char**>(p)[-2] = block;
  reinterpret_cast<std::uintptr_t*>(p)[-1] = reinterpret_cast<std::uintptr_t>(&c);
  return p;
}

// The header says whose block it is: a block of the other pair, or of nobody, is noticed here.
void without_header(counts& c, void* p) noexcept {
  if (p == nullptr) return;
  if (static_cast<std::uintptr_t*>(p)[-1] != reinterpret_cast<std::uintptr_t>(&c)) {
    std::puts("requirement 5: a block came to a delete that its new knows nothing of");
    std::fflush(stdout);
    std::abort();
  }
  --c.live;
  std::free(static_cast<char**>(p)[-2]);
}

}  // namespace

void* operator new(std::size_t n) { return with_header(plain, header, n); }
void operator delete(void* p) noexcept { without_header(plain, p); }
void* operator new(std::size_t n, std::align_val_t a) { return with_header(aligned, std::size_t(a), n); }
void operator delete(void* p, std::align_val_t) noexcept { without_header(aligned, p); }

namespace {

struct form {
  const char* name;
  void* (*make)(std::size_t n);
  void (*end)(void* p, std::size_t n);
};

const form plain_forms[] = {
    {"new, delete", [](std::size_t n) { return operator new(n); },
     [](void* p, std::size_t) { operator delete(p); }},
    {"new, sized delete", [](std::size_t n) { return operator new(n); },
     [](void* p, std::size_t n) { operator delete(p, n); }},
    {"new[], delete[]", [](std::size_t n) { return operator new[](n); },
     [](void* p, std::size_t) { operator delete[](p); }},
    {"new[], sized delete[]", [](std::size_t n) { return operator new[](n); },
     [](void* p, std::size_t n) { operator delete[](p, n); }},
    {"nothrow new, nothrow delete", [](std::size_t n) { return operator new(n, std::nothrow); },
     [](void* p, std::size_t) { operator delete(p, std::nothrow); }},
    {"nothrow new[], nothrow delete[]", [](std::size_t n) { return operator new[](n, std::nothrow); },
     [](void* p, std::size_t) { operator delete[](p, std::nothrow); }},
};

const form aligned_forms[] = {
    {"aligned new, aligned delete", [](std::size_t n) { return operator new(n, wide_alignment); },
     [](void* p, std::size_t) { operator delete(p, wide_alignment); }},
    {"aligned new, sized aligned delete", [](std::size_t n) { return operator new(n, wide_alignment); },
     [](void* p, std::size_t n) { operator delete(p, n, wide_alignment); }},
    {"aligned new[], aligned delete[]", [](std::size_t n) { return operator new[](n, wide_alignment); },
     [](void* p, std::size_t) { operator delete[](p, wide_alignment); }},
    {"aligned new[], sized aligned delete[]", [](std::size_t n) { return operator new[](n, wide_alignment); },
     [](void* p, std::size_t n) { operator delete[](p, n, wide_alignment); }},
    {"nothrow aligned new and delete", [](std::size_t n) { return operator new(n, wide_alignment, std::nothrow); },
     [](void* p, std::size_t) { operator delete(p, wide_alignment, std::nothrow); }},
    {"nothrow aligned new[] and delete[]",
     [](std::size_t n) { return operator new[](n, wide_alignment, std::nothrow); },
     [](void* p, std::size_t) { operator delete[](p, wide_alignment, std::nothrow); }},
};

// What is said of it allocates, so it is said afterwards.
void each_goes_through(preload::tally& tally, const form& f, counts& c, const counts& other) {
  for (std::size_t n : {std::size_t{1}, std::size_t{40}, std::size_t{5000}, std::size_t{3} << 20}) {
    const counts before = c, others = other;
    void* const p = opaque(f.make(n));
    const bool made = p != nullptr && c.made == before.made + 1 && c.live == before.live + 1;
    std::memset(p, 1, n);
    f.end(p, n);
    const bool ended = c.live == before.live;
    const bool alone = other.made == others.made && other.live == others.live;
    tally.check(made, std::string(f.name) + ": the block is not the program's");
    tally.check(ended, std::string(f.name) + ": its end is not the program's");
    tally.check(alone, std::string(f.name) + ": the other pair is called");
  }
}

// What the program's own form throws, a nothrow form answers with null.
void refusal_is_null(preload::tally& tally) {
  refuses = true;
  void* const answers[] = {operator new(opaque(std::size_t{40}), std::nothrow),
                           operator new[](opaque(std::size_t{40}), std::nothrow),
                           operator new(opaque(std::size_t{40}), wide_alignment, std::nothrow),
                           operator new[](opaque(std::size_t{40}), wide_alignment, std::nothrow)};
  refuses = false;
  for (void* p : answers) tally.check(p == nullptr, "a nothrow form answers what was refused");
}

// std::stable_sort takes its buffer by the nothrow form, and gives it back by the plain one.
void sorts(preload::tally& tally) {
  std::vector<int> numbers(1000);
  for (int i = 0; i != 1000; ++i) numbers[std::size_t(i)] = i * 7919 % 1000;
  const std::size_t made = plain.made;
  std::stable_sort(numbers.begin(), numbers.end());
  tally.check(std::is_sorted(numbers.begin(), numbers.end()), "stable_sort does not sort");
  tally.check(plain.made > made, "stable_sort's buffer is not the program's");
}

}  // namespace

int main() {
  const std::size_t before = plain.live;
  preload::tally tally(5);
  for (const form& f : plain_forms) each_goes_through(tally, f, plain, aligned);
  for (const form& f : aligned_forms) each_goes_through(tally, f, aligned, plain);
  refusal_is_null(tally);
  sorts(tally);
  tally.check(plain.live == before && aligned.live == 0, "blocks are left");
  return tally.result();
}
