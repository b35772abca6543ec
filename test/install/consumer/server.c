// Its malloc is Polder's: another's block would end it.
#include <polder.h>
#include <stdlib.h>

int main(void) {
  void* const p = malloc(100);
  const int right = p != NULL && polder_usable_size(p) >= 100;
  free(p);
  return right ? 0 : 1;
}
