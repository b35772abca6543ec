#include <fcntl.h>
#include <sys/stat.h>

#include <polder/os/kept_file.hpp>
#include <polder/os/system_call.hpp>

namespace polder::os {

bool kept_file::identify(int descriptor, identity& into) noexcept {
  struct stat s;
  if (system_call(SYS_fstat, descriptor, &s) < 0) return false;
  into = {s.st_dev, s.st_ino};
  return true;
}

void kept_file::keep(int descriptor) noexcept {
  constexpr int out_of_the_way = 100;  // programs count on low numbers
  if (!identify(descriptor, file_)) return;
  first_ = descriptor;
  copy_ = int(system_call(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, out_of_the_way));
  if (copy_ < 0) copy_ = int(system_call(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, 0));  // a low limit on files
}

bool kept_file::is_it(int descriptor) const noexcept {
  identity now;
  return descriptor >= 0 && identify(descriptor, now) && now == file_;
}

int kept_file::found() const noexcept { return is_it(copy_) ? copy_ : is_it(first_) ? first_ : -1; }

}  // namespace polder::os
