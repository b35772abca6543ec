// preload_first_thread — allocation while the dynamic linker still relocates.
//
// The words of the first thread are zero until the dynamic linker has copied the TLS images, which it does when all
// relocations are done; and a relocation may run a program's IFUNC resolver that allocates. So the library has a
// resolver of its own: it runs when the library is relocated, which is before the program is, and gives the thread the
// word that the fast path relies on. When the image is copied over it the LAB of those first blocks is left alone; its
// blocks are freed as a dead thread's are.
//
// Not for static programs: there all resolvers run before there is any TLS, and none can allocate from any heap.
#include <polder/malloc/instance.hpp>

namespace polder::face {
namespace {

using function = void();

void nothing() {}

extern "C" [[gnu::visibility("hidden"), gnu::used]] function* polder_begin_first_thread() {
  if (this_thread.lab == nullptr) this_thread.lab = &host::nobody<heap_instance::lab_type>;
  return nothing;
}

[[gnu::ifunc("polder_begin_first_thread")]] void first_thread_begun();

[[gnu::constructor]] void refer_to_it() { first_thread_begun(); }

}  // namespace
}  // namespace polder::face
