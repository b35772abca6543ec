#pragma once
// collection_suite — what is asked of every queue, stack, deque and pool. A structure's test says
//
//   POLDER_COLLECTION_SUITE(name, template of element, reclaimer and memory);
//
// The questions are in collection_suite_test.cpp, compiled once: they see a structure through `tested`. It is asked over a
// reclaimer that frees as soon as it may and one that frees nothing, and in short over some of the registry's.
//
// What a structure's semantics allows is read from its info; k() says k where it is k-out-of-order.
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <polder/ds/collection_info.hpp>
#include <polder/ds/parts/memory.hpp>
#include <polder/ds/tree/eager_test.hpp>
#include <polder/smr/all.hpp>

namespace polder::ds::collection_suite {

// An element of which it is known how many there are.
struct counted {
  static inline atomic<long> count{0};
  static long alive() { return count.load(order::relaxed); }
  long n = 0;
  explicit counted(long i) noexcept : n(i) { count.fetch_add(1, order::relaxed); }
  counted(counted&& other) noexcept : n(other.n) { count.fetch_add(1, order::relaxed); }
  counted& operator=(counted&&) = default;
  ~counted() { count.fetch_sub(1, order::relaxed); }
};

// One whose move throws when it is told to.
struct fragile {
  static inline bool throws = false;
  std::unique_ptr<long> n;
  explicit fragile(long i) : n(std::make_unique<long>(i)) {}
  fragile(fragile&& other) : n((look(), std::move(other.n))) {}
  fragile& operator=(fragile&& other) {
    look();
    n = std::move(other.n);
    return *this;
  }
  static void look() {
    if (throws) throw std::runtime_error("a move");
  }
};

// Nodes' memory that is counted, and ends when it is told to.
struct scarce_memory {
  static inline atomic<long> left{1'000'000'000};
  static inline atomic<long> used{0};  // blocks

  // Not inlined: compilers take one of a pair that they see through for a mismatch.
  [[gnu::noinline]] static void* operator new(std::size_t bytes) {
    take();
    return ::operator new(bytes);
  }
  [[gnu::noinline]] static void operator delete(void* p) noexcept {
    used.fetch_sub(1, order::relaxed);
    ::operator delete(p);
  }
  [[gnu::noinline]] static void* operator new(std::size_t bytes, std::align_val_t a) {
    take();
    return ::operator new(bytes, a);
  }
  [[gnu::noinline]] static void operator delete(void* p, std::align_val_t a) noexcept {
    used.fetch_sub(1, order::relaxed);
    ::operator delete(p, a);
  }
  static void* operator new(std::size_t, void* p) noexcept { return p; }

 private:
  static void take() {
    if (left.fetch_sub(1, order::relaxed) <= 0) throw std::bad_alloc();
    used.fetch_add(1, order::relaxed);
  }
};

// A domain of one test: what the structure retired is gone before it.
template <class R>
struct drained : R::domain {
  ~drained() { this->drain(); }
};

// A structure with its domain, as the questions see it.
template <class T>
struct tested {
  virtual ~tested() = default;
  virtual bool put(T&& value) = 0;
  virtual std::optional<T> get() = 0;
  virtual std::size_t k() const = 0;  // 0: of no meaning here
  virtual std::uint64_t left() = 0;   // destroys the structure, drains its domain: objects not reclaimed
};

template <class C, class R>
class owning : public tested<typename C::value_type> {
  using T = typename C::value_type;

 public:
  owning() {
    if constexpr (std::constructible_from<C, typename R::domain&>) of_ = std::make_unique<C>(domain_);
    else of_ = std::make_unique<C>();
  }
  ~owning() override { left(); }
  bool put(T&& value) override { return of_->put(std::move(value)); }
  std::optional<T> get() override { return of_->get(); }
  std::size_t k() const override {
    if constexpr (requires { of_->k(); }) return of_->k();
    else return 0;
  }
  std::uint64_t left() override {
    of_.reset();
    domain_.drain();
    if constexpr (requires { domain_.statistics().unreclaimed(); }) return domain_.statistics().unreclaimed();
    else return 0;
  }

 private:
  typename R::domain domain_;
  std::unique_ptr<C> of_;
};

template <class T>
using maker = std::unique_ptr<tested<T>> (*)();

template <class C, class R>
std::unique_ptr<tested<typename C::value_type>> make() {
  return std::make_unique<owning<C, R>>();
}

struct subject {
  std::string name;
  collection_info info;
  maker<long> longs;
  maker<counted> counteds;
  // Null: it is asked in short.
  maker<std::unique_ptr<long>> scarce;
  maker<fragile> fragiles;
};
std::vector<subject>& subjects();
void PrintTo(const subject& s, std::ostream* out);

template <template <class, class, class> class Of, class R>
void add(std::string name, bool in_short) {
  using heap = heap_memory;
  name += '_';
  for (const char c : R::info.name) name += c == '-' ? '_' : c;
  subject s{
      name,   Of<long, R, heap>::info, make<Of<long, R, heap>, R>, make<Of<counted, R, scarce_memory>, R>, nullptr,
      nullptr};
  if (!in_short) {
    s.scarce = make<Of<std::unique_ptr<long>, R, scarce_memory>, R>;
    s.fragiles = make<Of<fragile, R, heap>, R>;
  }
  subjects().push_back(s);
}

// Under one that frees at once what nobody may see, in full, and under one of those that programs use. Each structure runs
// under more of them in bench.structures; a pair costs the compiler a second in every preset.
template <template <class, class, class> class Of>
bool add_all(const char* name) {
  constexpr collection_info info = Of<long, smr::leaky, heap_memory>::info;
  if constexpr (info.protection == needs::none) {
    add<Of, smr::leaky>(name, false);
  } else {
    add<Of, std::conditional_t<info.protection == needs::pointer, eager::hazard, eager::region>>(name, false);
    add<Of, smr::debra>(name, true);
  }
  return true;
}

#define POLDER_COLLECTION_SUITE(name, ...) [[maybe_unused]] const bool name##_added = add_all<__VA_ARGS__>(#name)

}  // namespace polder::ds::collection_suite
