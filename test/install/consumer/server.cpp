// Its operator new is Polder's, and its containers may say so: another's block would end it.
#include <polder.h>
#include <polder/allocator.hpp>
#include <vector>

int main() {
  int* const p = new int(1);
  const bool right = polder_usable_size(p) >= sizeof *p;
  delete p;
  const std::vector<int, polder::allocator<int>> v(10, 1);
  return right && v[9] == 1 ? 0 : 1;
}
