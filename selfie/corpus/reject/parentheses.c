int f(int a, int b {
  return a;
}

int main() {
  int a;

  a = (1 + 2;
  if a == 3) return 1;
  while (a {
    a = f(a, 2;
  }
  return a;
}
