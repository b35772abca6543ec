#include <stdlib.h>

#include <polder/os/print.hpp>
#include <polder/smr/misuse.hpp>

namespace polder::smr {

void misused(std::string_view scheme, std::string_view what) noexcept {
  os::line() << "polder: " << scheme << ": " << what;
  ::abort();
}

void misused(std::string_view scheme, std::string_view what, std::size_t figure, std::string_view more) noexcept {
  os::line() << "polder: " << scheme << ": " << what << figure << more;
  ::abort();
}

}  // namespace polder::smr
