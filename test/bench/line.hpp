#pragma once
// line — what is read out of polder-bench's line of JSON.
#include <cstdlib>
#include <string>
#include <vector>

namespace polder::bench::test {

// The number after "key": from `at` on, by default behind the parameters; -1 where it is not.
inline long long number(const std::string& line, const std::string& key, std::size_t at = std::string::npos) {
  if (at == std::string::npos) at = line.find("\"operations\":");
  at = line.find("\"" + key + "\":", at);
  return at == std::string::npos ? -1 : std::atoll(line.c_str() + at + key.size() + 3);
}

}  // namespace polder::bench::test
