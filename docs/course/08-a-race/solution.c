// Adds 1 to the word, whoever else does so at the same time.
void increment(int* p) {
  int old;

  old = *p;
  while (compare_and_swap(p, old, old + 1) == 0) old = *p;
}
