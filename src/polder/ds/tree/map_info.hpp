#pragma once
// map_info — what the catalogue says of an ordered or hashed map, and what all maps have in common.
//
// Keys and values are copied, and a copy may throw: then nothing has happened. Keys are compared by <, and hashed by some,
// and neither may throw: an update compares when it has a node in hand, and again when the key is there, or gone, already.
// No map asks the type whether it throws: < of std::pair, as of most keys of users, does not say noexcept.
// Where the reclaimer restarts readers, < runs in a read phase (reading.hpp), which may be broken off anywhere: there it may not
// allocate or lock, either, nor make what has a destructor. The hash is taken before.
#include <concepts>
#include <cstddef>
#include <string_view>

#include <polder/ds/needs.hpp>

namespace polder::ds {

// The value type that makes a map a set; it takes no space in a node.
struct nothing {
  friend bool operator==(nothing, nothing) = default;
};

struct map_info {
  std::string_view name;
  std::string_view title;
  std::string_view semantics;
  std::string_view readers;   // progress of contains and get
  std::string_view updaters;  // progress of insert, erase and take
  std::string_view paper;
  int year;
  std::string_view parameters;  // besides key, value and reclaimer; empty: none
  needs protection;
  bool restarts = false;  // its searches are read phases (reading.hpp)
};

// A sum over keys that does not depend on their order: what was inserted less what was erased.
template <class K>
constexpr std::size_t key_summand(const K& key) {
  if constexpr (std::integral<K>) return static_cast<std::size_t>(key);
  else return std::size_t{1};
}

// Of a map at rest. Map has for_each_quiescent(f), which calls f(key, value) for each key.
template <class Map>
class counted_at_rest {
 public:
  std::size_t size_slow() const {
    std::size_t n = 0;
    self().for_each_quiescent([&](const auto&, const auto&) { ++n; });
    return n;
  }
  std::size_t key_sum_quiescent() const {
    std::size_t sum = 0;
    self().for_each_quiescent([&](const auto& key, const auto&) { sum += key_summand(key); });
    return sum;
  }

 protected:
  counted_at_rest() = default;
  ~counted_at_rest() = default;

 private:
  const Map& self() const { return static_cast<const Map&>(*this); }
};

}  // namespace polder::ds
