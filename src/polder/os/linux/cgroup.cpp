#include <algorithm>

#include <polder/os/cgroup.hpp>
#include <polder/os/linux/file_letters.hpp>

namespace polder::os {
namespace {

using text = std::string_view;

enum class version { one, two };

// A line of a file; what of it does not fit is left out.
class file_line {
 public:
  // False: there are no more.
  bool read(file_letters& from) {
    size_ = 0;
    int c = from.next();
    if (c == file_letters::end) return false;
    for (; c != file_letters::end && c != '\n'; c = from.next())
      if (size_ < sizeof text_) text_[size_++] = char(c);
    return true;
  }
  text whole() const { return {text_, size_}; }

  // In its place: the kernel writes a letter that would end a name or a line as a backslash and three octal digits.
  text spell_out(text part) {
    const auto is_octal = [](char c) { return c >= '0' && c <= '7'; };
    char* const to = text_ + (part.data() - text_);
    std::size_t size = 0;
    while (!part.empty()) {
      const bool is_code = part.size() >= 4 && part[0] == '\\' && std::all_of(&part[1], &part[1] + 3, is_octal);
      to[size++] = is_code ? char((part[1] - '0') * 64 + (part[2] - '0') * 8 + (part[3] - '0')) : part[0];
      part.remove_prefix(is_code ? 4 : 1);
    }
    return {to, size};
  }

 private:
  char text_[1000];
  std::size_t size_ = 0;
};

// Takes what lies before the first `mark` off the front, and the mark.
text cut(text& from, text mark) {
  const std::size_t at = std::min(from.find(mark), from.size());
  const text front{from.data(), at};
  from.remove_prefix(std::min(at + mark.size(), from.size()));
  return front;
}

bool lists(text all, text one) {
  while (!all.empty())
    if (cut(all, ",") == one) return true;
  return false;
}

// "5:cpu,memory:/a/group" or, of version 2, "0::/a/group".
bool tells_of(version v, text line, text& group) {
  const text number = cut(line, ":"), controllers = cut(line, ":");
  group = line == "/" ? text{} : line;
  return v == version::two ? number == "0" && controllers.empty() : lists(controllers, "memory");
}

// "31 23 0:28 ROOT PLACE options … - TYPE source options": ROOT of the hierarchy is mounted at PLACE.
class mount {
 public:
  bool is_of(version v, file_line& from) {
    text line = from.whole();
    for (int before = 0; before != 3; ++before) cut(line, " ");
    const text root = cut(line, " "), place = cut(line, " ");
    cut(line, " - ");
    const text type = cut(line, " ");
    cut(line, " ");
    if (v == version::two ? type != "cgroup2" : type != "cgroup" || !lists(line, "memory")) return false;
    root_ = root == "/" ? text{} : from.spell_out(root);
    place_ = from.spell_out(place);
    return true;
  }
  text place() const { return place_; }
  bool holds(text group) const {
    return group.starts_with(root_) && (group.size() == root_.size() || group[root_.size()] == '/');
  }
  // The group as it is called below the place, which stands for what cannot be seen from it.
  text below(text group) const {
    if (!holds(group)) return {};
    group.remove_prefix(root_.size());
    return group;
  }

 private:
  text root_, place_;
};

std::size_t number_in(const file_path& name) {
  constexpr std::size_t too_many = std::size_t{1} << 60;
  file_letters from(name);
  std::size_t n = 0;
  for (int c = from.next(); is_digit(c) && n < too_many; c = from.next()) n = n * 10 + std::size_t(c - '0');
  return n == 0 || n >= too_many ? no_limit : n;
}

// In the group's folder and those above it, up to where the hierarchy is mounted.
std::size_t smallest(version v, text root, text place, text group) {
  std::size_t least = no_limit;
  for (;;) {
    const auto look = [&](text file) { least = std::min(least, number_in(file_path(root, place, group, file))); };
    if (v == version::one) {
      look("/memory.limit_in_bytes");
    } else {
      look("/memory.max");
      look("/memory.high");
    }
    if (group.empty()) return least;
    group = {group.data(), std::min(group.rfind('/'), group.size() - 1)};
  }
}

std::size_t limit_of(version v, text root, text group) {
  const auto is_there = [&](text place) {
    return file_letters(file_path(root, place, group, "/cgroup.procs")).there();
  };
  constexpr text usual[] = {"/sys/fs/cgroup/memory", "/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
  for (const text place : usual)
    if ((place == usual[0]) == (v == version::one) && is_there(place)) return smallest(v, root, place, group);
  const auto first_mount = [&](bool holding, std::size_t& least) {
    file_letters mounts(file_path(root, "/proc/self/mountinfo"));
    mount m;
    for (file_line line; line.read(mounts);) {
      if (!m.is_of(v, line) || (holding && !m.holds(group))) continue;
      return least = smallest(v, root, m.place(), m.below(group)), true;
    }
    return false;
  };
  std::size_t least = no_limit;
  if (!first_mount(true, least)) first_mount(false, least);
  return least;
}

}  // namespace

std::size_t cgroup_memory_limit(std::string_view root) noexcept {
  std::size_t least = no_limit;
  file_letters groups(file_path(root, "/proc/self/cgroup"));
  text group;
  for (file_line line; line.read(groups);) {
    // A controller is in one hierarchy: where version 1 has the memory's, and it stands first, version 2 limits none.
    if (tells_of(version::one, line.whole(), group)) return limit_of(version::one, root, group);
    if (tells_of(version::two, line.whole(), group)) least = std::min(least, limit_of(version::two, root, group));
  }
  return least;
}

}  // namespace polder::os
