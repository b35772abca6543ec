// mistakes_asan NAME — compiled with AddressSanitizer and linked with the variant `asan`: a mistake with a block of Polder's, or
// none.
#include <polder.h>

#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <polder/allocator.hpp>

#include "../probe/expect.hpp"
#include "../probe/opaque.hpp"
#include "by_name.hpp"

using namespace polder::probe;

namespace {

using bytes = volatile char*;

bytes allocated(std::size_t n) { return static_cast<bytes>(opaque(polder_malloc(n))); }
void given_back(bytes p) { polder_free(opaque(const_cast<char*>(p))); }

[[gnu::noinline]] void read_after_free() {
  const bytes p = allocated(40);
  p[7] = 1;
  given_back(p);
  opaque(p[7]);
}

[[gnu::noinline]] void write_after_free() {
  const bytes p = allocated(200'000);
  given_back(p);
  p[100'000] = 1;
}

[[gnu::noinline]] void overrun() {
  const bytes p = allocated(10);
  p[10] = 1;
  given_back(p);
}

[[gnu::noinline]] void overrun_of_an_allocator() {
  std::vector<int, polder::allocator<int>> v(25);
  opaque(static_cast<volatile int*>(v.data())[25]);
}

[[gnu::noinline]] void double_free() {
  const bytes p = allocated(40);
  given_back(p);
  given_back(p);
}

[[gnu::noinline]] void leak_of_mallocs() {  // AddressSanitizer's own; so that the check for them is known to run
  for (int i = 0; i < 50; ++i)
    opaque(static_cast<char*>(std::malloc(321)))[0] = 1;  // one may still lie on the stack
}

// Blocks of both allocators that point to each other, by several threads.
[[gnu::noinline]] void none() {
  using text = std::string;
  using texts = std::vector<text, polder::allocator<text>>;
  static texts* kept;  // the strings' own blocks are known through a block of Polder's alone
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([] {
      texts all;
      for (int i = 0; i < 500; ++i) {
        all.emplace_back(std::size_t(i % 90), 'x');
        auto* const p = static_cast<char*>(polder_calloc(1, std::size_t(i * 37 + 1)));
        expect(p[i * 37] == 0, "calloc: not zero");
        std::memset(p, 1, std::size_t(i * 37 + 1));
        auto* const q = static_cast<char*>(polder_realloc(p, std::size_t(i * 53 + 1)));
        expect(q[0] == 1 && q[i * 37] == 1, "realloc");
        polder_free(q);
        polder_free(polder_aligned_alloc(64, 100));
      }
    });
  for (auto& t : threads) t.join();
  kept = new (polder_malloc(sizeof(texts))) texts(10, text(200, 'y'));
  opaque(kept);
}

constexpr polder::tools::deed mistakes[] = {
    {"read_after_free", read_after_free},
    {"write_after_free", write_after_free},
    {"overrun", overrun},
    {"overrun_of_an_allocator", overrun_of_an_allocator},
    {"double_free", double_free},
    {"leak_of_mallocs", leak_of_mallocs},
    {"none", none},
};

}  // namespace

int main(int argc, char** argv) { polder::tools::make_by_name(argc, argv, mistakes); }
