int main() {
  int a;

  5;
  a + 1;
  a;
  = 3;
  else return 1;
  { a = 1; }
  int b;
  a = 2;
  return a;
}
