int a;
int a;
int f(int b, int b) { return b; }
int f(int c, int d) { return c; }
int a() { return 1; }
int f;

int main() {
  int x;
  int x;

  y = 1;
  y = y + 1;
  x = unknown(1);
  x = a();
  x = f;
  x(1);
  f = 3;
  return x;
}
