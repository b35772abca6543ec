// 0 to 6 words between two that nobody may touch.
int wrong = 0;

void try(int n) {
  int* a;
  int i;

  a = malloc(40);
  i = 0;
  while (i < 10) {
    *(a + i) = 100 + i;
    i = i + 1;
  }
  reverse(a + 1, n);
  i = 0;
  while (i < 10) {
    if ((i > 0) * (i <= n)) {
      if (*(a + i) != 100 + n + 1 - i) wrong = wrong + 1;
    } else if (*(a + i) != 100 + i) {
      print("a word outside was changed, with n = ");
      print_number(n);
      print("\n");
      exit(1);
    }
    i = i + 1;
  }
  if (wrong > 0) {
    print("expected ");
    print_number(n);
    print(" words in reverse, found ");
    i = 1;
    while (i <= n) {
      print_number(*(a + i) - 100);
      print(" ");
      i = i + 1;
    }
    print("\n");
    exit(1);
  }
}

int main() {
  int n;

  n = 0;
  while (n < 7) {
    try(n);
    n = n + 1;
  }
  return 100;  // seen to its end; 0 may be an exit() of what is checked
}
