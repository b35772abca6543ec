// status 55
/* Blocks and single statements, nested ifs, an else belongs to the nearest if. */
int pick(int a, int b) {
  if (a)
    if (b)
      return 1;
    else
      return 2;
  return 3;
}

int main() {
  int i;
  int n;

  if (pick(1, 0) != 2) return 1;
  if (pick(0, 1) != 3) return 2;
  i = 0;
  n = 0;
  while (i < 10) {
    i = i + 1;
    if (i % 2 == 0) {
      n = n + i;
    } else if (i == 7) {
      n = n + 7;
    } else
      n = n + i;
  }
  while (0) return 9;
  return n;  // 55
}
