int two(int a, int b) { return a + b; }

int main() {
  two();
  two(1);
  two(1, 2, 3);
  write(1, 2, "text");
  exit("now");
  return two(two(1), 2);
}
