// Five words, and where they lie.
int main() {
  int* p;
  int i;

  p = malloc(20);
  i = 0;
  while (i < 5) {
    *(p + i) = i * i;
    i = i + 1;
  }
  i = 0;
  while (i < 5) {
    print("address ");
    print_number((int)(p + i));
    print(": ");
    print_number(*(p + i));
    print("\n");
    i = i + 1;
  }
  return 0;
}
