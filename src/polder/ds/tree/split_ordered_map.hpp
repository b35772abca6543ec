#pragma once
// split_ordered_map — a hash map that grows with its keys and moves none of them: one list in the order of the hashes, and
// a table of short cuts into it.
//
//   paper      Shalev, Shavit, "Split-ordered lists: lock-free extensible hash tables", JACM 2006; the list is Michael's,
//              see marked_list.hpp
//   progress   lock-free; contains and get wait-free where the reclaimer protects regions and the list does not grow
//   in malloc  no: insert allocates, and whoever comes to a bucket first
//   invariant  the list is sorted by (rank, key); a short cut leads to a word from which every key of its bucket is reached
//   deviation  the hash's high bits come first in the list and are reversed for the table, where the paper reverses the
//              low ones for the list. Keys are counted by a sample, so that no word is written by each operation
//
// The table has 2^n buckets; bucket b is the keys whose first n bits, read backwards, are b. One bit more cuts each bucket
// in two: b keeps the first half of its list, b + 2^n begins in its middle. So to double the table is to count n up. A bucket
// gets its short cut when somebody first comes to it: a sentinel, put into the list behind the short cut of its parent, b
// without its highest bit. Sentinels stay while the map does.
//
// Rank: of a key, its hash with the last bit set; of a sentinel, its bucket's bits with the rest clear. So a sentinel
// comes before the keys of its bucket, and after those of the one before.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>

#include <polder/base/config.hpp>
#include <polder/ds/tree/hash_map.hpp>
#include <polder/ds/tree/map_info.hpp>
#include <polder/ds/tree/marked_list.hpp>
#include <polder/sync/atomic.hpp>

namespace polder::ds {

// Which keys are counted, by their ranks: one of 16, by bits on which the whole rank has a say. Some bits of the rank itself
// would not do: of keys that differ in other bits alone they count none, or all.
struct one_of_16 {
  static constexpr std::uint64_t of = 16;
  static bool has(std::uint64_t rank) noexcept { return rank * 0xd6e8'feb8'6659'fd93 >> 60 == 0; }
};

// Hash: its high bits choose the bucket. Sentinels hold a key and a value that are made from nothing.
template <class K, class V, class R, class Hash = spread_hash<K>, class Sample = one_of_16>
class split_ordered_map : public counted_at_rest<split_ordered_map<K, V, R, Hash, Sample>> {
  struct placed_key {
    std::uint64_t rank;
    K key;
    bool is_sentinel() const noexcept { return (rank & 1) == 0; }
    friend bool operator<(const placed_key& a, const placed_key& b) {
      return a.rank != b.rank ? a.rank < b.rank : !a.is_sentinel() && a.key < b.key;
    }
  };
  using list = marked_list<placed_key, V, R>;

 public:
  static constexpr map_info info = {
      .name = "split-ordered-map",
      .title = "Split-ordered list",
      .semantics = "map, linearizable; grows",
      .readers = "wait-free by regions, else lock-free; a bucket's first visitor inserts",
      .updaters = "lock-free",
      .paper = "Shalev & Shavit, JACM 2006",
      .year = 2006,
      .parameters = "",
      .protection = needs::pointer};
  using key_type = K;
  using value_type = V;
  using reclaimer_type = R;
  using node = typename list::node;

  explicit split_ordered_map(typename R::domain& domain) : domain_(domain) {
    first_[0].store(&all_, order::relaxed);
    segments_[0].store(first_, order::relaxed);
  }
  split_ordered_map(const split_ordered_map&) = delete;
  split_ordered_map& operator=(const split_ordered_map&) = delete;
  ~split_ordered_map() {
    guard g(domain_);
    list::clear(g, all_);
    for (unsigned s = 1; s != most_segments; ++s) delete[] segments_[s].load(order::relaxed);
  }

  std::size_t buckets() const noexcept { return std::size_t{1} << bits_.load(order::relaxed); }

  // False: the key is there, and keeps its value. Throws std::bad_alloc, and then nothing happened.
  bool insert(const K& key, const V& value = {}) {
    guard g(domain_);
    const placed_key placed = place(key);
    if (!list::insert(g, bucket(g, placed.rank), placed, value)) return false;
    if (Sample::has(placed.rank) && sample_.fetch_add(1, order::relaxed) + 1 > std::int64_t(buckets() / Sample::of))
      grow();
    return true;
  }
  bool erase(const K& key) {
    guard g(domain_);
    return erase(g, key, [](const V&) {});
  }
  std::optional<V> take(const K& key) {
    guard g(domain_);
    std::optional<V> taken;
    if (!erase(g, key, [&](const V& v) { taken.emplace(v); })) taken.reset();
    return taken;
  }
  bool contains(const K& key) const {
    guard g(domain_);
    return look(g, key) != nullptr;
  }
  std::optional<V> get(const K& key) const {
    guard g(domain_);
    const node* const n = look(g, key);
    return n == nullptr ? std::nullopt : std::optional<V>(n->value);
  }

  // For a map at rest. By their hashes.
  template <class F>
  void for_each_quiescent(F&& f) const {
    list::each(all_, [&](const node& n) {
      if (!n.key.is_sentinel()) f(n.key.key, n.value);
    });
  }
  void validate() const {
    list::validate(all_);
    guard g(domain_);
    list::each(all_, [&](const node& n) {
      if (n.key.is_sentinel()) return;
      must(n.key.rank == place(n.key.key).rank);
      must(list::look(g, bucket(g, n.key.rank), n.key) == &n);
    });
  }

 private:
  using guard = typename list::guard;
  using head = typename list::head;
  using cut = atomic<head*>;

  static constexpr unsigned first_bits = 4;
  static constexpr unsigned most_segments = 40;  // 2^43 buckets: 2^4, doubled 39 times

  static constexpr std::uint64_t reversed(std::uint64_t w) noexcept {
    w = (w >> 1 & 0x5555'5555'5555'5555) | (w & 0x5555'5555'5555'5555) << 1;
    w = (w >> 2 & 0x3333'3333'3333'3333) | (w & 0x3333'3333'3333'3333) << 2;
    w = (w >> 4 & 0x0f0f'0f0f'0f0f'0f0f) | (w & 0x0f0f'0f0f'0f0f'0f0f) << 4;
    return __builtin_bswap64(w);
  }

  static placed_key place(const K& key) { return {hash_of<Hash>(key) | 1, key}; }

  template <class F>
  bool erase(guard& g, const K& key, F&& taken) {
    const placed_key placed = place(key);
    if (!list::erase(g, bucket(g, placed.rank), placed, taken)) return false;
    if (Sample::has(placed.rank)) sample_.fetch_sub(1, order::relaxed);
    return true;
  }

  const node* look(guard& g, const K& key) const {
    const placed_key placed = place(key);
    return list::look(g, bucket(g, placed.rank), placed);
  }

  // The word from which keys of this rank are reached.
  head& bucket(guard& g, std::uint64_t rank) const {
    const unsigned bits = bits_.load(order::acquire);  // sync: table-grown
    const std::uint64_t number = reversed(rank) & ((std::uint64_t{1} << bits) - 1);
    head* const h = cut_of(number).load(order::acquire);  // sync: bucket-opened
    return h != nullptr ? *h : open(g, number);
  }

  // Segment 0 has the first buckets, segment s as many as all before it.
  cut& cut_of(std::uint64_t number) const noexcept {
    const unsigned s = unsigned(std::bit_width(number >> first_bits));
    cut* const segment = segments_[s].load(order::acquire);  // sync: table-grown
    return segment[s == 0 ? number : number - (std::uint64_t{1} << (first_bits + s - 1))];
  }

  // No recursion deeper than the table has bits.
  POLDER_NOINLINE head& open(guard& g, std::uint64_t number) const {
    const std::uint64_t parent = number & ~std::bit_floor(number);
    head* above = cut_of(parent).load(order::acquire);  // sync: bucket-opened
    if (above == nullptr) above = &open(g, parent);
    const placed_key sentinel{reversed(number), K{}};
    list::insert(g, *above, sentinel, V{});  // unless another did
    typename list::place at;
    list::find(g, *above, sentinel, at);
    head& word = at.at.pointer()->next;
    cut_of(number).store(&word, order::release);  // sync: bucket-opened
    return word;
  }

  // Without memory for the next segment the map stays as it is. Of the segments there are it looks into none.
  POLDER_NOINLINE void grow() {
    unsigned bits = bits_.load(order::relaxed);
    const unsigned s = bits - first_bits + 1;
    if (s == most_segments) return;
    if (segments_[s].load(order::relaxed) == nullptr) {
      cut* const made = new (std::nothrow) cut[std::size_t{1} << bits];
      if (made == nullptr) return;
      cut* none = nullptr;
      if (!segments_[s].cas(none, made, order::release, order::relaxed)) delete[] made;  // sync: table-grown
    }
    bits_.cas(bits, bits + 1, order::release, order::relaxed);  // sync: table-grown
  }

  typename R::domain& domain_;
  mutable head all_;  // the list: bucket 0 begins with it; see marked_list

  // segments_ — the table's parts. Written by who makes one, once; table-grown: its buckets are empty before they are seen.
  // A bucket is written by who opened it, with the same word by all, and never again; bucket-opened: the sentinel is in
  // the list before.
  mutable cut first_[std::size_t{1} << first_bits];
  atomic<cut*> segments_[most_segments];
  // bits_: of a bucket's number. Written by who grows the table, one up at a time, when there is a segment for it.
  alignas(false_sharing_range) atomic<unsigned> bits_{first_bits};
  // sample_: how many keys are in the map, of those that are sampled. Written by who inserts or erases one; a hint. Below 0
  // while one has been erased whose insertion has yet to count it.
  alignas(false_sharing_range) atomic<std::int64_t> sample_;
};

}  // namespace polder::ds
