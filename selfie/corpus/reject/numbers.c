int main() {
  int a;

  a = 2147483648;
  a = 99999999999;
  a = 12ab;
  a = 2147483647;
  return a / 0;
}
