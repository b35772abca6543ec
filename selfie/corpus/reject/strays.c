int main() {
  int a;

  a = 1;
  else a = 2;
  if (a == 1) else a = 3;
  while () a = 4;
  return a;
}
}
int f() { return 1; }
