// status 7
// Global variables begin with a number or 0, a negative one too; a local hides a global.
int a;
int b = 12;
int c = -5;
int* p;
int* q = 0;

int hidden(int b) {
  int c;

  c = b + 1;
  return c;
}

int main() {
  if (p != 0) return 1;
  if (q != 0) return 2;
  if (hidden(3) != 4) return 3;
  a = b + c;
  return a;
}
