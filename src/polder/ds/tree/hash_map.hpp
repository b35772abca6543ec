#pragma once
// hash_map — a fixed number of buckets, each a sorted list behind one word.
//
//   paper      Michael, SPAA 2002, section 3; see marked_list.hpp for the steps and their argument
//   progress   lock-free; contains and get wait-free where the reclaimer protects regions and the bucket does not grow
//   in malloc  no: insert allocates
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>

#include <polder/base/bits.hpp>
#include <polder/ds/tree/map_info.hpp>
#include <polder/ds/tree/marked_list.hpp>

namespace polder::ds {

// Spreads whatever std::hash gives, which of an integer is the integer, over the high bits.
template <class K>
struct spread_hash {
  std::uint64_t operator()(const K& key) const noexcept {
    return static_cast<std::uint64_t>(std::hash<K>{}(key)) * 0x9e37'79b9'7f4a'7c15;  // 2^64 / golden ratio
  }
};

// What Hash gives, in the highest of 64 bits: it may be of any integer type.
template <class Hash, class K>
std::uint64_t hash_of(const K& key) noexcept {
  using given = decltype(Hash{}(key));
  using bits = std::make_unsigned_t<std::remove_cvref_t<given>>;
  return std::uint64_t{static_cast<bits>(Hash{}(key))} << (64 - std::numeric_limits<bits>::digits);
}

// Hash: its high bits choose the bucket.
template <class K, class V, class R, class Hash = spread_hash<K>>
class hash_map : public counted_at_rest<hash_map<K, V, R, Hash>> {
  using list = marked_list<K, V, R>;

 public:
  static constexpr map_info info = {
      .name = "hash-map",
      .title = "Michael's hash table",
      .semantics = "map, linearizable",
      .readers = "wait-free by regions, else lock-free",
      .updaters = "lock-free",
      .paper = "Michael, SPAA 2002, sec. 3",
      .year = 2002,
      .parameters = "expected: the keys for which the buckets suffice; they do not grow",
      .protection = needs::pointer,
      .restarts = true};
  using key_type = K;
  using value_type = V;
  using reclaimer_type = R;
  using node = typename list::node;
  static constexpr std::size_t usually_expected = 512;
  // Two words a key, at most four: most keys are then the first behind their word, and each that is not costs the cache one
  // miss more.
  static constexpr std::size_t buckets_a_key = 2;

  // For about as many keys as are expected; with more it becomes slower. Throws std::bad_alloc.
  explicit hash_map(typename R::domain& domain, std::size_t expected = usually_expected)
      : domain_(domain),
        shift_(64 - floor_log2(buckets_for(expected))),
        firsts_(std::make_unique<typename list::head[]>(buckets())) {}
  hash_map(const hash_map&) = delete;
  hash_map& operator=(const hash_map&) = delete;
  ~hash_map() {
    guard g(domain_);
    for (std::size_t i = 0; i != buckets(); ++i) list::clear(g, firsts_[i]);
  }

  std::size_t buckets() const noexcept { return std::size_t{1} << (64 - shift_); }

  // False: the key is there, and keeps its value. Throws std::bad_alloc, and then nothing happened.
  bool insert(const K& key, const V& value = {}) {
    guard g(domain_);
    return list::insert(g, bucket(key), key, value);
  }
  bool erase(const K& key) {
    guard g(domain_);
    return list::erase(g, bucket(key), key, [](const V&) {});
  }
  std::optional<V> take(const K& key) {
    guard g(domain_);
    std::optional<V> taken;
    if (!list::erase(g, bucket(key), key, [&](const V& v) { taken.emplace(v); })) taken.reset();
    return taken;
  }
  bool contains(const K& key) const {
    guard g(domain_);
    return list::look(g, bucket(key), key) != nullptr;
  }
  std::optional<V> get(const K& key) const {
    guard g(domain_);
    const node* const n = list::look(g, bucket(key), key);
    return n == nullptr ? std::nullopt : std::optional<V>(n->value);
  }

  // For a map at rest. In no order.
  template <class F>
  void for_each_quiescent(F&& f) const {
    for (std::size_t i = 0; i != buckets(); ++i) list::each(firsts_[i], [&](const node& n) { f(n.key, n.value); });
  }
  void validate() const {
    for (std::size_t i = 0; i != buckets(); ++i) {
      list::validate(firsts_[i]);
      list::each(firsts_[i], [&](const node& n) { must(&bucket(n.key) == &firsts_[i]); });
    }
  }

 private:
  using guard = typename list::guard;

  // A power of two; not what no machine has memory for, where the product would be less than its factor.
  static constexpr std::size_t buckets_for(std::size_t expected) noexcept {
    constexpr std::size_t most = std::size_t{1} << 62;
    return expected > most / buckets_a_key ? most : std::bit_ceil(expected == 0 ? 2 : expected * buckets_a_key);
  }

  typename list::head& bucket(const K& key) const noexcept { return firsts_[hash_of<Hash>(key) >> shift_]; }

  typename R::domain& domain_;
  const unsigned shift_;
  const std::unique_ptr<typename list::head[]> firsts_;  // see marked_list
};

}  // namespace polder::ds
