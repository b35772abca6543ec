// Puts the node where it belongs in the sorted list; returns the first node.
int* insert(int* list, int* node) {
  // yours
  return list;
}
