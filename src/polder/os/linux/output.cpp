#include <polder/os/linux/file_letters.hpp>
#include <polder/os/output.hpp>

namespace polder::os {

output& output::copy_file(const char* name) noexcept {
  file_letters letters(name);
  for (int c; (c = letters.next()) != file_letters::end;) *this << char(c);
  return *this;
}

}  // namespace polder::os
