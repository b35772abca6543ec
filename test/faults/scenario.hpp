#pragma once
// scenario — a few milliseconds of everything a heap does with the kernel, written so that any step may be refused: a
// refused one returns NULL with ENOMEM, and what was allocated before it stays as it was.
#include <malloc.h>
#include <pthread.h>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "../probe/expect.hpp"
#include "../probe/opaque.hpp"
#include "../probe/random.hpp"
#include "../probe/sizes.hpp"
#include "../probe/stamp.hpp"

namespace polder::faults {

class scenario {
 public:
  // Runs it all; how many requests were refused. Everything is freed at the end.
  static long run(std::uint32_t seed) {
    scenario s(seed);
    s.fill();
    s.thin_out();
    s.zeroed();
    s.aligned();
    s.grow();
    s.mapped_directly();
    s.other_thread();
    s.fill();
    s.empty();
    ::malloc_trim(0);
    return s.refused_;
  }

 private:
  static constexpr int room = 1500;

  explicit scenario(std::uint32_t seed) : random_(seed) {}

  bool had(void* p, std::size_t size) {
    if (p) return true;
    int why = errno;
    probe::expect(why == ENOMEM, "req 3, 7: NULL for %zu bytes with errno %d (%s), not ENOMEM", size, why,
                  std::strerror(why));
    refused_++;
    return false;
  }

  void keep(void* p, std::size_t size) {
    if (!had(p, size)) return;
    probe::stamp(p, size, std::uint32_t(random_.next()));
    if (size > 4096) {  // touched throughout, so that a lost block shows in resident memory
      for (std::size_t i = 4095; i < size - 64; i += 4096)
        static_cast<volatile char*>(p)[i] = static_cast<char*>(p)[i];
    }
    if (count_ < room) block_[count_++] = p;
    else drop(p);
  }

  static void drop(void* p) {
    probe::expect_intact(p, "req 7");
    std::free(p);
  }

  static void* asked(void* p) { return probe::opaque(p); }

  void fill() {
    for (int i = 0; i < 400 && count_ < room; i++) {
      auto size =
          i % 50 == 49 ? probe::large_sizes[random_.below(probe::large_sizes.size())] : probe::any_size(random_);
      errno = 0;
      keep(asked(std::malloc(size)), size);
    }
    for (auto size : {probe::huge_sizes[0], probe::huge_sizes[2]}) errno = 0, keep(asked(std::malloc(size)), size);
  }

  void thin_out() {
    for (int i = 0; i < count_; i++) {
      if (random_.below(3) == 0) continue;
      drop(block_[i]);
      block_[i--] = block_[--count_];
    }
  }

  void zeroed() {
    for (int i = 0; i < 60 && count_ < room; i++) {
      auto size = probe::any_size(random_, 4 << 20);
      errno = 0;
      auto* p = static_cast<unsigned char*>(asked(std::calloc(1, size)));
      for (std::size_t k = 0; p && k < size; k += k < 4096 ? 1 : 61) {
        probe::expect(p[k] == 0, "req 9: calloc(%zu) is dirty at %zu", size, k);
      }
      keep(p, size);
    }
  }

  void aligned() {
    for (std::size_t alignment = 32; alignment <= 4 << 20; alignment *= 4) {
      errno = 0;
      void* p = asked(::memalign(alignment, 5000));
      probe::expect(reinterpret_cast<std::uintptr_t>(p) % alignment == 0, "req 3: %p is not aligned to %zu", p,
                    alignment);
      keep(p, 5000);
    }
  }

  void grow() {
    std::size_t size = 1000;
    void* p = asked(std::malloc(size));
    if (!had(p, size)) return;
    probe::stamp(p, size, 1);
    // Up by 1.7, so that steps fall within, across and far above the large limit; then down.
    for (int step = 0; step < 34; step++) {
      std::size_t next = step < 18 ? size * 17 / 10 : size / 2 + 64;
      auto head = probe::head_of(p);
      probe::expect_intact(p, "req 7: before realloc");
      errno = 0;
      void* q = asked(std::realloc(p, next));
      if (!q) {
        had(q, next);
        probe::expect_intact(p, "req 3, 7: after a refused realloc");
        continue;
      }
      probe::expect(probe::body_intact(q, head, next), "req 7: realloc to %zu lost data", next);
      p = q, size = next;
      probe::stamp(p, size, 1);
    }
    drop(p);
  }

  // Far above what any heap keeps in its arena: mapped, moved by mremap, unmapped.
  void mapped_directly() {
    std::size_t size = std::size_t{70} << 20;
    errno = 0;
    void* p = asked(std::malloc(size));
    if (!had(p, size)) return;
    static_cast<volatile char*>(p)[size - 1] = 1;
    std::memset(p, 0x5a, 1 << 20);
    errno = 0;
    if (void* q = asked(std::realloc(p, size * 2))) {
      p = q;
      static_cast<volatile char*>(p)[size * 2 - 1] = 1;
    } else {
      had(q, size * 2);
    }
    probe::expect(static_cast<char*>(p)[(1 << 20) - 1] == 0x5a, "req 7: realloc of a mapped block lost data");
    if (void* q = asked(std::realloc(p, size / 2))) p = q;
    std::free(p);
  }

  // A thread of its own allocates and leaves its blocks to us, frees some of ours, and ends.
  void other_thread() {
    pthread_t thread;
    auto visit = [](void* self) -> void* {
      auto& s = *static_cast<scenario*>(self);
      for (int i = 0; i < 20 && s.count_ > 0; i++) drop(s.block_[--s.count_]);
      s.fill();
      return nullptr;
    };
    int error = ::pthread_create(&thread, nullptr, visit, this);
    if (error == 0) ::pthread_join(thread, nullptr);
  }

  void empty() {
    while (count_ > 0) drop(block_[--count_]);
  }

  probe::random random_;
  void* block_[room];
  int count_ = 0;
  long refused_ = 0;
};

}  // namespace polder::faults
