#pragma once
// mapped_array — the harness's own memory: from mmap, present from the start, never from the allocator under test. Its
// pages are therefore neither in the allocator's time nor in the page faults of the measured phase.
#include <sys/mman.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace polder::bench {

// What a child after fork sees of it: a copy, or the same.
enum class mapping : int { copied = MAP_PRIVATE, shared = MAP_SHARED };

template <class T, mapping M = mapping::copied>
class mapped_array {
 public:
  // Every element is made from the same arguments.
  template <class... Arguments>
  explicit mapped_array(std::size_t size, const Arguments&... arguments) : size_(size) {
    if (size == 0) return;
    void* memory = mmap(nullptr, size * sizeof(T), PROT_READ | PROT_WRITE,
                        static_cast<int>(M) | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED) {
      const char* why = std::strerror(errno);
      std::fprintf(stderr, "%s: no memory for the harness: %s\n", program_invocation_short_name, why);
      std::exit(2);
    }
    data_ = static_cast<T*>(memory);
    for (std::size_t i = 0; i < size; ++i) new (data_ + i) T(arguments...);
  }
  mapped_array(const mapped_array&) = delete;
  mapped_array& operator=(const mapped_array&) = delete;
  ~mapped_array() {
    for (std::size_t i = 0; i < size_; ++i) data_[i].~T();
    if (data_ != nullptr) munmap(data_, size_ * sizeof(T));
  }

  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  std::size_t size() const { return size_; }

 private:
  T* data_ = nullptr;
  std::size_t size_;
};

template <class T>
using shared_array = mapped_array<T, mapping::shared>;

}  // namespace polder::bench
