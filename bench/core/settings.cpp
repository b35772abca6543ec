#include "core/settings.hpp"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <vector>

#include "core/nearest.hpp"

namespace polder::bench {

namespace {

// "64", "64K", "8M", "2G".
std::optional<std::int64_t> number(std::string_view text) {
  int shift = 0;
  if (!text.empty()) {
    switch (text.back()) {
      case 'K': shift = 10; break;
      case 'M': shift = 20; break;
      case 'G': shift = 30; break;
      default: break;
    }
  }
  if (shift != 0) text.remove_suffix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  std::int64_t scaled = 0;
  if (__builtin_mul_overflow(value, std::int64_t{1} << shift, &scaled)) return std::nullopt;
  return scaled;
}

std::string quoted(std::string_view text) {
  std::string result(1, '\'');
  result += text;
  result += '\'';
  return result;
}

}  // namespace

std::string_view choice(std::string_view choices, std::int64_t index) {
  for (;; --index) {
    const auto bar = choices.find('|');
    if (index == 0) return choices.substr(0, bar);
    if (bar == std::string_view::npos) return {};
    choices.remove_prefix(bar + 1);
  }
}

settings::settings(const workload_info& info) : info_(&info) {
  if (info.parameters.size() > most_parameters) std::abort();
  for (std::size_t i = 0; i < info.parameters.size(); ++i) values_[i] = info.parameters[i].standard;
}

std::string settings::apply(std::string_view text) {
  while (!text.empty()) {
    const auto end = text.find_first_of(" ,");
    const auto one = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (one.empty()) continue;
    if (auto wrong = apply_one(one); !wrong.empty()) return wrong;
  }
  return {};
}

std::string settings::apply_one(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos) return quoted(text) + " is not of the form name=value";
  const auto name = text.substr(0, equals);
  const auto value = text.substr(equals + 1);

  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < info_->parameters.size(); ++i) {
    const parameter& p = info_->parameters[i];
    if (p.name != name) {
      names.push_back(p.name);
      continue;
    }
    if (!p.choices.empty()) {
      std::vector<std::string_view> words;
      for (std::int64_t w = 0; !choice(p.choices, w).empty(); ++w) {
        if (choice(p.choices, w) == value) {
          values_[i] = w;
          return {};
        }
        words.push_back(choice(p.choices, w));
      }
      return quoted(p.name) + " cannot be " + quoted(value) + ": " + nearest(value, words);
    }
    const auto parsed = number(value);
    if (!parsed) return quoted(value) + " is no number for " + quoted(p.name);
    if (*parsed < p.least || *parsed > p.most) {
      return quoted(p.name) + " is from " + std::to_string(p.least) + " to " + std::to_string(p.most) + ", not " +
             std::string(value);
    }
    values_[i] = *parsed;
    return {};
  }
  return std::string(info_->name) + " has no parameter " + quoted(name) + ": " + nearest(name, names);
}

std::int64_t settings::operator[](std::string_view name) const {
  for (std::size_t i = 0; i < info_->parameters.size(); ++i) {
    if (info_->parameters[i].name == name) return values_[i];
  }
  std::fprintf(stderr, "polder-bench: %s reads a parameter it does not declare: %.*s\n", info_->name.data(),
               static_cast<int>(name.size()), name.data());
  std::abort();
}

std::string_view settings::word(std::string_view name) const {
  for (const parameter& p : info_->parameters) {
    if (p.name == name) return choice(p.choices, (*this)[name]);
  }
  return {};
}

}  // namespace polder::bench
