// status 120
// Recursion, calls in arguments, temporaries across calls, mutual recursion by declaration.
int odd(int n);

int even(int n) {
  if (n == 0) return 1;
  return odd(n - 1);
}

int odd(int n) {
  if (n == 0) return 0;
  return even(n - 1);
}

int factorial(int n) {
  if (n < 2) return 1;
  return n * factorial(n - 1);
}

int sum3(int a, int b, int c) { return a * 100 + b * 10 + c; }

int main() {
  if (sum3(1, sum3(0, 0, 2), sum3(0, 0, 3)) != 123) return 1;
  if (1 + 2 * (3 + sum3(0, 0, 4 * factorial(3) / 6)) != 15) return 2;
  if (even(10) != 1) return 3;
  if (odd(10) != 0) return 4;
  return factorial(5);
}
