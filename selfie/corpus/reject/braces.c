int f() {
  return 1;

void g() { return; }

int main() {
  if (1) {
    return 2;
}
