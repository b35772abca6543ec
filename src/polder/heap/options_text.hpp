#pragma once
// options_text — options as text: "arena_size=1G,decay_ms=0", read and written without allocating.
//
// Grammar: key=value pairs separated by commas; blanks around a key or value and empty pairs are allowed. A later
// pair wins over an earlier one. Sizes take a suffix K, M, G or T (powers of 1024).
#include <cstddef>
#include <span>
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
extern const option_key option_keys[21];

struct option_error {
  enum what { none, unknown_key, bad_value } what = none;
  std::string_view key;    // as written by the user
  std::string_view value;  // as written by the user
  std::string_view near;   // the key meant, or the most similar one
  std::string_view takes;  // what a value of that key looks like
};

// Reads pairs into `into`, up to the first mistake. `own`: the options that only this heap has.
option_error read_options(std::string_view text, options& into, std::span<const tunable> own = {}) noexcept;

// One line that a user can act on, e.g.:  unknown option "decai_ms" (did you mean "decay_ms"?)
void describe(os::line_text& to, const option_error& error) noexcept;

// Every option, as read_options would take it.
void write_options(os::line_text& to, const options& from, std::span<const tunable> own = {}) noexcept;

// One value of an option that only one heap has, as read_options would take it.
void write_value(os::line_text& to, const tunable& t, std::uint64_t value) noexcept;

// How many letters must be added, dropped, replaced or swapped with their neighbour to make `a` into `b`.
unsigned edit_distance(std::string_view a, std::string_view b) noexcept;

}  // namespace polder::heap
