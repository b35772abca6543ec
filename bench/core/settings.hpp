#pragma once
// settings — a value for every parameter of one workload.
#include <array>
#include <string>
#include <string_view>

#include "core/workload_info.hpp"

namespace polder::bench {

class settings {
 public:
  static constexpr unsigned most_parameters = 16;

  explicit settings(const workload_info& info);

  // Applies one "name=value", or several with spaces or commas between. An empty string, or what was wrong.
  [[nodiscard]] std::string apply(std::string_view text);

  // Asking for a name that the workload does not have is a mistake of the workload: it aborts.
  std::int64_t operator[](std::string_view name) const;
  std::size_t size(std::string_view name) const { return static_cast<std::size_t>((*this)[name]); }
  std::string_view word(std::string_view name) const;

  const workload_info& info() const { return *info_; }
  std::int64_t at(unsigned index) const { return values_[index]; }

 private:
  std::string apply_one(std::string_view text);

  const workload_info* info_;
  std::array<std::int64_t, most_parameters> values_{};
};

// The index-th word of "a|b|c"; empty beyond the last.
std::string_view choice(std::string_view choices, std::int64_t index);

}  // namespace polder::bench
