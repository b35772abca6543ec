int main() {
  a = 1;
  int b;
  b = ;
  if (b = 1) b = 2;
  return b +;
}

int f( { return 1; }

int g() { return 1 }
