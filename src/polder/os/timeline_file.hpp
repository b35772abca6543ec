#pragma once
// timeline_file — the file of a recording: who may write it, and how it is written.
//
//   in malloc  yes: raw calls, nothing is allocated, no cancellation point; errno is kept
//   errors     one line on standard error; the program goes on
#include <string_view>

#include <polder/os/print.hpp>
#include <polder/os/timeline_buffer.hpp>

namespace polder::os::timeline {

// All-zero memory is no name. What does not fit is cut, and then the kernel has its say.
class file_name {
 public:
  std::string_view text() const noexcept { return {text_, size_}; }
  const char* for_kernel() const noexcept { return text_; }
  void clear() noexcept { *this = {}; }
  file_name& operator<<(std::string_view s) noexcept {
    if (s.size() > sizeof text_ - 1 - size_) s.remove_suffix(s.size() - (sizeof text_ - 1 - size_));
    size_ += s.copy(text_ + size_, s.size());
    return *this;
  }
  // In place of the one that it had: a child's child is called after itself alone.
  void add_pid(std::uint32_t pid) noexcept {
    if (bare_ == 0) bare_ = size_;
    while (size_ != bare_) text_[--size_] = '\0';
    text_buffer<11> ending;
    ending << '.' << pid;
    *this << ending.text();
  }

 private:
  std::size_t size_ = 0;
  std::size_t bare_ = 0;                // without a process
  char text_[longest_file + 480] = {};  // the last is always zero
};

// The whole way to a file, so that a program may change its folder.
void make_absolute(file_name& to, std::string_view file) noexcept;

// Writes a header whose state is `begun` into the file. A file that another living process records gets `.PID` added to
// its name; one that is no timeline stays as it is. False: nothing can be written there.
bool claim(file_name& file, const header& h) noexcept;

// Writes everything, the state last. Each buffer of the list that is of the session is in it.
bool write(file_name& file, header& h, buffer* all, std::uint32_t session) noexcept;

}  // namespace polder::os::timeline
