#include <polder/malloc/instance.hpp>

namespace polder::face {

constinit heap_instance instance;

}  // namespace polder::face
