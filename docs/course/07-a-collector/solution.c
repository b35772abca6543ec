// Sets the mark of every node that can be reached from here to 1.
void mark(int* node) {
  if (node == 0) return;
  if (*node == 1) return;
  *node = 1;
  mark((int*)*(node + 1));
  mark((int*)*(node + 2));
}
