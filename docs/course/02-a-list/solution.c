// Puts the node where it belongs in the sorted list; returns the first node.
int* insert(int* list, int* node) {
  int* before;
  int* after;

  before = 0;
  after = list;
  while (after != 0) {
    if (*after > *node) {
      *(node + 1) = (int)after;
      if (before == 0) return node;
      *(before + 1) = (int)node;
      return list;
    }
    before = after;
    after = (int*)*(after + 1);
  }
  *(node + 1) = 0;
  if (before == 0) return node;
  *(before + 1) = (int)node;
  return list;
}
