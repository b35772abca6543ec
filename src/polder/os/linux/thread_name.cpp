#include <polder/os/system_call.hpp>
#include <polder/os/thread_name.hpp>

#include <fcntl.h>

#include <cstring>

namespace polder::os {

std::uint32_t own_thread_number() noexcept {
  const long number = system_call(SYS_gettid);
  return number > 0 ? std::uint32_t(number) : 0;
}

thread_name name_of_thread(std::uint32_t number) noexcept {
  thread_name name;
  char digits[10];
  unsigned n = 0;
  for (; n == 0 || number != 0; number /= 10) digits[n++] = char('0' + number % 10);
  char path[48] = "/proc/self/task/";
  char* end = path + std::strlen(path);
  while (n != 0) *end++ = digits[--n];
  std::strcpy(end, "/comm");
  const long file = system_call(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return name;
  const long got = system_call(SYS_read, file, name.text, sizeof name.text);
  system_call(SYS_close, file);
  // The kernel ends it with a line feed.
  name.text[got > 0 ? got - 1 : 0] = '\0';
  return name;
}

}  // namespace polder::os
