// status 3
// A procedure need not return anything, and main need not either.
int n = 0;

void once() { n = n + 1; }

void twice() {
  once();
  once();
  return;
}

int main() {
  once();
  twice();
  exit(n);
}
