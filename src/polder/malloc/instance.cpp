#include <polder/malloc/instance.hpp>

namespace polder::face {

constinit heap_instance instance;

// Of an archive the linker takes what is asked for: who takes anything of the heap takes malloc and its relatives with it, or what one
// malloc gave would go to another's free.
[[gnu::used]] static const char* const whole = &malloc_is_linked;

}  // namespace polder::face
