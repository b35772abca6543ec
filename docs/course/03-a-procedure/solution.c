// How many nodes are on the longest way from the root.
int depth(int* tree) {
  int left;
  int right;

  if (tree == 0) return 0;
  left = depth((int*)*(tree + 1));
  right = depth((int*)*(tree + 2));
  if (left > right) return left + 1;
  return right + 1;
}
