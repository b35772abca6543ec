// well_behaved — a program that uses its memory in every way there is and makes no mistake: no tool may find one.
#include <malloc.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "../probe/expect.hpp"
#include "../probe/opaque.hpp"
#include "../probe/random.hpp"

using polder::probe::expect;
using polder::probe::opaque;

namespace {

struct alignas(64) line {
  char text[64];
};

std::mutex between_threads;
std::vector<std::unique_ptr<std::string>> left_here;  // by one thread, for whoever comes

void check_zero(const void* p, std::size_t n) {
  const auto* const c = static_cast<const char*>(p);
  expect(n == 0 || (c[0] == 0 && std::memcmp(c, c + 1, n - 1) == 0), "calloc: not zero");
}

void c_functions(polder::probe::random& r) {
  const std::size_t n = r.below(64) == 0 ? 100'000 + r.below(400'000) : r.below(3000);
  auto* p = static_cast<char*>(opaque(std::malloc(n)));
  expect(p != nullptr && malloc_usable_size(p) >= n, "malloc");
  std::memset(p, int(n), n);
  const std::size_t grown = n + r.below(n + 100);
  p = static_cast<char*>(std::realloc(p, grown));
  expect(n == 0 || (p[0] == char(n) && p[n - 1] == char(n)), "realloc");
  p = static_cast<char*>(std::realloc(p, grown / 2 + 1));
  std::free(p);
  void* const z = opaque(std::calloc(n / 8 + 1, 8));
  check_zero(z, n);
  std::memset(z, 0xff, n);
  std::free(z);
  void* const a = std::aligned_alloc(256, 256 * (1 + r.below(20)));
  std::memset(a, 1, 256);
  std::free(a);
  void* m = nullptr;
  expect(::posix_memalign(&m, 4096, n) == 0, "posix_memalign");
  std::memset(m, 1, n);
  std::free(m);
  std::free(opaque(std::malloc(0)));
}

void cpp_operators(polder::probe::random& r) {
  delete opaque(new int(7));
  delete[] opaque(new char[r.below(500)]);
  delete opaque(new line);
  delete[] opaque(new line[3]);
  ::operator delete(::operator new(100, std::nothrow), std::nothrow);
  std::string text;
  for (int i = 0; i < 50; ++i) text += char('a' + r.below(26));
  auto given = std::make_unique<std::string>(text);
  std::unique_ptr<std::string> taken;
  const std::lock_guard held(between_threads);
  if (left_here.size() > 100) {
    taken = std::move(left_here.back());
    left_here.pop_back();
  }
  left_here.push_back(std::move(given));
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 300;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([rounds, t] {
      polder::probe::random r(std::uint64_t(t) + 1);
      for (int i = 0; i < rounds; ++i) c_functions(r), cpp_operators(r);
    });
  for (auto& t : threads) t.join();
  left_here.clear();
  left_here.shrink_to_fit();
  ::malloc_trim(0);
}
