int main() {
  int a;

  a = ;
  a = 1 + ;
  a = * ;
  a = 1 2;
  a = 3 == 4 == 5;
  a = ();
  return a;
}
