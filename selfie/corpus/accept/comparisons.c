// status 0
// Comparisons as values and as conditions, on both sides of zero.
int count(int a, int b) {
  int n;

  n = (a == b) + 2 * (a != b) + 4 * (a < b) + 8 * (a <= b) + 16 * (a > b) + 32 * (a >= b);
  if (a == b) n = n - 1;
  if (a != b) n = n - 2;
  if (a < b) n = n - 4;
  if (a <= b) n = n - 8;
  if (a > b) n = n - 16;
  if (a >= b) n = n - 32;
  return n;
}

int main() {
  return count(1, 2) + count(2, 1) + count(2, 2) + count(-1, 1) + count(1, -1) + count(-2, -1) + count(0, 0);
}
