#pragma once
// tunable — an option that one heap has and others do not: a number, a number of bytes, or one of a few words.
//
// A heap lists its own in its sheet. POLDER_OPTIONS takes them beside those that every heap has.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace polder::heap {

inline constexpr std::size_t most_tunables = 8;  // of one heap

struct tunable {
  enum class form : std::uint8_t { number, bytes, word };

  std::string_view name;
  std::string_view takes;  // what a value looks like, for messages
  form is = form::number;
  std::uint64_t least = 0;  // of a number or of bytes
  std::uint64_t most = 0;   // of a word: how many there are, less one
  std::uint64_t value = 0;  // when nobody asks for another; of a word: its place among the words
  const std::string_view* words = nullptr;
};

constexpr tunable number(std::string_view name, std::string_view takes, std::uint64_t least, std::uint64_t most,
                         std::uint64_t value) {
  return {name, takes, tunable::form::number, least, most, value, nullptr};
}
constexpr tunable bytes(std::string_view name, std::string_view takes, std::uint64_t least, std::uint64_t most,
                        std::uint64_t value) {
  return {name, takes, tunable::form::bytes, least, most, value, nullptr};
}
template <std::size_t n>
constexpr tunable word(std::string_view name, std::string_view takes, const std::string_view (&words)[n],
                       std::uint64_t value) {
  return {name, takes, tunable::form::word, 0, n - 1, value, words};
}

// Those of a heap or of its sheet; most have none.
template <class Heap>
constexpr std::span<const tunable> tunables_of() {
  if constexpr (requires { Heap::tunables; }) return Heap::tunables;
  else return {};
}

}  // namespace polder::heap
