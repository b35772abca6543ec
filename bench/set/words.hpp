#pragma once
// words — names of registries as choices of a parameter: "ebr|debra|…".
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <polder/base/type_list.hpp>
#include <polder/smr/drain.hpp>

namespace polder::bench {

struct joined_words {
  std::array<char, 4096> text{};
  std::size_t size = 0;

  constexpr void add(std::string_view word) {
    if (size != 0) text[size++] = '|';
    for (const char c : word) text[size++] = c;
  }
  constexpr std::string_view view() const { return {text.data(), size}; }
};

constexpr joined_words joined(std::string_view some, std::string_view more) {
  joined_words words;
  words.add(some);
  if (!more.empty()) words.add(more);
  return words;
}

// Of types that have an info with a name.
template <class List>
constexpr joined_words names_of() {
  joined_words words;
  for_each(List{}, [&words]<class T> { words.add(T::info.name); });
  return words;
}

constexpr joined_words names_of_drains() {
  joined_words words;
  for (const smr::named_drain& d : smr::all_drains) words.add(d.name);
  return words;
}

// Which of them it is. One that is none of them is a mistake that does not compile. Not by string_view's find, whose
// test for null GCC 12 takes for no constant under -fsanitize=undefined.
consteval std::int64_t place_of(std::string_view word, std::string_view words) {
  for (std::int64_t place = 0;; ++place) {
    const auto bar = static_cast<std::size_t>(std::ranges::find(words, '|') - words.begin());
    if (words.substr(0, bar) == word) return place;
    if (bar == words.size()) throw "no such word";
    words.remove_prefix(bar + 1);
  }
}

}  // namespace polder::bench
