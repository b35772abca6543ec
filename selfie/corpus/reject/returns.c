void f() { return 1; }

int g() { return; }

int* h() { return 2; }

int* k() { return 0; }

void l() { return; }

int main() {
  f();
  return g();
}
