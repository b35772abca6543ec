#include "core/nearest.hpp"

#include <algorithm>
#include <numeric>

namespace polder::bench {

namespace {

std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest(std::string_view wrong, const std::vector<std::string_view>& names) {
  std::vector<std::pair<std::size_t, std::string_view>> near;
  for (const auto name : names) {
    const bool begins = wrong.size() >= 2 && name.starts_with(wrong);
    const std::size_t distance = begins ? 0 : edits(wrong, name);
    if (distance <= std::max<std::size_t>(2, wrong.size() / 3) && distance < name.size())
      near.emplace_back(distance, name);
  }
  std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  if (near.size() > 3) near.resize(3);

  std::string phrase = near.empty() ? "there are " : "did you mean ";
  const std::size_t count = near.empty() ? names.size() : near.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) phrase += near.empty() ? ", " : " or ";
    phrase += near.empty() ? names[i] : near[i].second;
  }
  if (!near.empty()) phrase += "?";
  return phrase;
}

}  // namespace polder::bench
