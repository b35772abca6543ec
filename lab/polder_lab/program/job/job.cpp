// For compilers: headers heavy in templates, and some instances of our own.
#include <algorithm>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

template <int n>
struct tower {
  std::map<int, std::vector<std::string>> floors;
  tower<n - 1> below;
  int climb(int steps) {
    floors[steps].push_back(std::to_string(n));
    return below.climb(steps - 1) + static_cast<int>(floors.size());
  }
};
template <>
struct tower<0> {
  int climb(int steps) { return steps; }
};

int main() {
  tower<120> high;
  std::unordered_map<std::string, int> counts;
  std::istringstream text("the quick brown fox jumps over the lazy dog");
  for (std::string word; text >> word;) ++counts[word];
  for (const auto& [word, count] : counts) std::cout << word << count << '\n';
  return high.climb(3);
}
