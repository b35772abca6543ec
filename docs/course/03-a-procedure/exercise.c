// How many nodes are on the longest way from the root.
int depth(int* tree) {
  // yours
  return 0;
}
