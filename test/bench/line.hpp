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

// How often a call took as long as "[lowest ns, highest ns, count]" says, bucket for bucket.
struct bucket {
  long long low;
  long long high;
  long long count;
};

// The buckets that come first from `at` on.
inline std::vector<bucket> buckets(const std::string& line, std::size_t at) {
  std::vector<bucket> all;
  const auto begin = line.find("\"buckets\":[", at);
  if (begin == std::string::npos) return all;
  const char* text = line.c_str() + begin + 10;
  while (*text == '[' || *text == ',') {
    bucket b{};
    char* next = nullptr;
    b.low = std::strtoll(text + 1 + (text[1] == '['), &next, 10);
    b.high = std::strtoll(next + 1, &next, 10);
    b.count = std::strtoll(next + 1, &next, 10);
    all.push_back(b);
    text = next + 1;
  }
  return all;
}

}  // namespace polder::bench::test
