#include <fcntl.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <polder/os/environ.hpp>
#include <polder/os/system_call.hpp>

namespace polder::os {
namespace {

// The text after "name=", or null.
char* value_in(char* entry, std::string_view name) {
  const std::string_view text(entry);
  const bool found = text.size() > name.size() && text[name.size()] == '=' && text.starts_with(name);
  return found ? entry + name.size() + 1 : nullptr;
}

// /proc/self/environ is a run of zero-terminated entries, of any length: read in pieces, matched letter by letter.
std::string_view from_kernel(std::string_view name, std::span<char> spare) {
  const long fd = system_call(SYS_openat, AT_FDCWD, "/proc/self/environ", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  enum { matching, skipping, copying, done } state = matching;
  std::size_t matched = 0;
  std::size_t copied = 0;
  char piece[512];
  for (long n; state != done && (n = system_call(SYS_read, fd, piece, sizeof piece)) > 0;) {
    for (long i = 0; i < n && state != done; ++i) {
      const char c = piece[i];
      if (state == copying) {
        if (c == '\0') {
          state = done;
        } else if (copied < spare.size()) {
          spare[copied++] = c;
        }
      } else if (c == '\0') {
        state = matching;
        matched = 0;
      } else if (state == matching) {
        if (matched == name.size() && c == '=') {
          state = copying;
        } else if (matched < name.size() && c == name[matched]) {
          ++matched;
        } else {
          state = skipping;
        }
      }
    }
  }
  system_call(SYS_close, fd);
  if (state != copying && state != done) return {};
  return {spare.data(), copied};
}

}  // namespace

std::string_view environment_variable(std::string_view name, std::span<char> spare) noexcept {
  if (environ == nullptr) return from_kernel(name, spare);
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (const char* value = value_in(*entry, name)) return value;
  }
  return {};
}

bool secure_execution() noexcept { return ::getauxval(AT_SECURE) != 0; }

void remove_environment_variable(std::string_view name) noexcept {
  if (environ == nullptr) return;
  char** kept = environ;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (value_in(*entry, name) == nullptr) *kept++ = *entry;
  }
  *kept = nullptr;
}

}  // namespace polder::os
