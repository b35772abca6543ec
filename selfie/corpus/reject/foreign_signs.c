#include <stdio.h>

int main() {
  int a;

  a = 1 & 2;
  a = 1 | 2;
  a = 1 ^ 2;
  a = ~a;
  a = !a;
  if (a == 1 && a == 2) a = 3;
  if (a == 1 || a == 2) a = 3;
  a++;
  a += 2;
  a = a ? 1 : 2;
  a = a[3];
  a = &a;
  a = $;
  return a;
}
