#pragma once
// options_text — options as text: "arena_size=1G,decay_ms=0", read and written without allocating.
//
// Grammar: key=value pairs separated by commas; blanks around a key or value and empty pairs are allowed. A later
// pair wins over an earlier one. Sizes take a suffix K, M, G or T (powers of 1024).
#include <cstddef>
#include <string_view>

#include <polder/heap/options.hpp>
#include <polder/os/print.hpp>

namespace polder::heap {

struct option_key {
  std::string_view name;
  std::string_view takes;  // what a value looks like, for messages
  bool (*read)(std::string_view value, options& into) noexcept;
  void (*write)(os::line_text& to, const options& from) noexcept;
};

// One for each field of `options`, in their order.
extern const option_key option_keys[8];

struct option_error {
  enum what { none, unknown_key, bad_value } what = none;
  std::string_view key;              // as written by the user
  std::string_view value;            // as written by the user
  const option_key* near = nullptr;  // the key meant, or the most similar one
};

// Reads pairs into `into`, up to the first mistake.
option_error read_options(std::string_view text, options& into) noexcept;

// One line that a user can act on, e.g.:  unknown option "decai_ms" (did you mean "decay_ms"?)
void describe(os::line_text& to, const option_error& error) noexcept;

// Every option, as read_options would take it.
void write_options(os::line_text& to, const options& from) noexcept;

// How many letters must be added, dropped, replaced or swapped with their neighbour to make `a` into `b`.
unsigned edit_distance(std::string_view a, std::string_view b) noexcept;

}  // namespace polder::heap
