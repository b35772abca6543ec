#pragma once
// random — the same numbers from the same seed on every machine: xoshiro256** filled by splitmix64
// (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2021).
#include <cstdint>

namespace polder::bench {

constexpr std::uint64_t splitmix64(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

class random {
 public:
  constexpr random() : random(0, 0) {}
  // Streams of one seed are independent for all practical purposes.
  constexpr random(std::uint64_t seed, std::uint64_t stream) {
    std::uint64_t state = seed;
    state = splitmix64(state) ^ (stream * 0xd1342543de82ef95u);
    for (auto& word : words_) word = splitmix64(state);
  }

  constexpr std::uint64_t next() {
    const std::uint64_t result = rotate(words_[1] * 5, 7) * 9;
    const std::uint64_t shifted = words_[1] << 17;
    words_[2] ^= words_[0];
    words_[3] ^= words_[1];
    words_[1] ^= words_[2];
    words_[0] ^= words_[3];
    words_[2] ^= shifted;
    words_[3] = rotate(words_[3], 45);
    return result;
  }

  // 0 .. n-1, each within n / 2^64 of its share. All bits are multiplied: of 32, a billion keys got four or five of 2^32 each.
  constexpr std::uint64_t below(std::uint64_t n) {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(next()) * n) >> 64);
  }
  constexpr std::uint64_t between(std::uint64_t least, std::uint64_t most) {
    return least + below(most - least + 1);
  }
  constexpr bool percent(std::uint64_t chance) { return below(100) < chance; }

 private:
  static constexpr std::uint64_t rotate(std::uint64_t x, int by) { return (x << by) | (x >> (64 - by)); }

  std::uint64_t words_[4]{};
};

}  // namespace polder::bench
