// Turns the order of n words around: 1 2 3 becomes 3 2 1.
void reverse(int* a, int n) {
  int i;
  int kept;

  i = 0;
  while (i < n / 2) {
    kept = *(a + i);
    *(a + i) = *(a + n - 1 - i);
    *(a + n - 1 - i) = kept;
    i = i + 1;
  }
}
