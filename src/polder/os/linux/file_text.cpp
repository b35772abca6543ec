#include <polder/os/errno_keeper.hpp>
#include <polder/os/file_text.hpp>
#include <polder/os/linux/file_letters.hpp>

namespace polder::os {

int file_text::flush() noexcept {
  const errno_keeper keep;
  for (std::size_t done = 0; done != size_ && error_ == 0;) {
    const long n = ::syscall(SYS_write, fd_, text_ + done, size_ - done);
    if (n > 0) done += std::size_t(n);
    else if (n == 0 || errno != EINTR) error_ = n == 0 ? EIO : errno;
  }
  size_ = 0;
  return error_;
}

file_text& file_text::copy_file(const char* name) noexcept {
  file_letters letters{file_path(name)};
  for (int c; (c = letters.next()) != file_letters::end;) *this << char(c);
  return *this;
}

}  // namespace polder::os
