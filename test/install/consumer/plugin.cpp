#include <polder/smr/all.hpp>

extern "C" [[gnu::visibility("default")]] void use() {
  static polder::smr::debra::domain domain;
  const polder::smr::debra::guard<1> g(domain);
}
