// preload_children — POLDER_NO_CHILDREN=1: this program runs on Polder, the programs it starts do not.
//
// Before the program begins, the library takes itself out of LD_PRELOAD and POLDER_NO_CHILDREN out of the environment.
// Other libraries to preload stay. Both variables are edited where they lie, on the process's first stack.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include <polder/os/environ.hpp>

namespace polder::face {
namespace {

std::string_view base_name(std::string_view path) {
  path.remove_prefix(std::min(path.size(), path.rfind('/') + 1));  // npos + 1 == 0
  return path;
}

bool separates(char c) { return c == ' ' || c == ':'; }  // as ld.so reads LD_PRELOAD

// Drops every word of the text whose file is called `name`.
void drop_words(char* text, std::string_view name) {
  char* kept = text;
  for (char* p = text; *p != '\0';) {
    char* end = p;
    while (*end != '\0' && !separates(*end)) ++end;
    if (end != p && base_name({p, std::size_t(end - p)}) != name) {
      if (kept != text) *kept++ = ':';
      kept = std::copy(p, end, kept);  // never past p: what is kept is no longer than what was read
    }
    p = *end == '\0' ? end : end + 1;
  }
  *kept = '\0';
}

[[gnu::constructor]] void leave_the_children_alone() {
  const std::string_view wanted = os::environment_variable("POLDER_NO_CHILDREN", {});
  if (wanted.data() == nullptr) return;
  os::remove_environment_variable("POLDER_NO_CHILDREN");
  if (wanted.empty() || wanted == "0") return;
  Dl_info self;
  const std::string_view preloaded = os::environment_variable("LD_PRELOAD", {});
  if (preloaded.data() == nullptr || dladdr(reinterpret_cast<void*>(leave_the_children_alone), &self) == 0) return;
  drop_words(const_cast<char*>(preloaded.data()), base_name(self.dli_fname));
  if (*preloaded.data() == '\0') os::remove_environment_variable("LD_PRELOAD");
}

}  // namespace
}  // namespace polder::face
