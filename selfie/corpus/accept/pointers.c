// status 36
// A pointer counts in ints, on both sides of +, and the difference of two pointers too.
int main() {
  int* p;
  int* q;
  int i;

  p = malloc(40);
  i = 0;
  while (i < 10) {
    *(p + i) = i;
    i = i + 1;
  }
  q = 3 + p;
  *q = *q * 10;
  *(q + 1) = q - p;
  if (p == 0) return 1;
  if (q - 3 != p) return 2;
  return *(p + 3) + *(p + 4) + *(q + -3 + 3) - *(p + 3) + *(p + 9) - 6;
}
