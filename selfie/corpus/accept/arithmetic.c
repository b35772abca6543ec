// status 0
// Precedence, signs, wrapping at 32 bits: as C has them.
int check(int got, int wanted) {
  if (got == wanted) return 0;
  return 1;
}

int main() {
  int wrong;
  int big;

  wrong = check(2 + 3 * 4, 14);
  wrong = wrong + check((2 + 3) * 4, 20);
  wrong = wrong + check(20 - 6 - 5, 9);
  wrong = wrong + check(100 / 7 / 2, 7);
  wrong = wrong + check(7 / 2, 3);
  wrong = wrong + check(-7 / 2, -3);
  wrong = wrong + check(7 / -2, -3);
  wrong = wrong + check(-7 / -2, 3);
  wrong = wrong + check(7 % 3, 1);
  wrong = wrong + check(-7 % 3, -1);
  wrong = wrong + check(7 % -3, 1);
  wrong = wrong + check(-7 % -3, -1);
  big = 2147483647;
  wrong = wrong + check(big + 1, -2147483647 - 1);
  wrong = wrong + check(big * 2, -2);
  wrong = wrong + check((0 - big - 1) / 2, -1073741824);
  wrong = wrong + check((0 - big - 1) % 1000, -648);
  wrong = wrong + check(-(-5), 5);
  wrong = wrong + check(- 5 * -5, 25);
  wrong = wrong + check(123456789 / 16384 * 16384 + 123456789 % 16384, 123456789);
  return wrong;
}
