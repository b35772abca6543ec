// status 0
// Characters, escapes, strings: four characters an int, the first lowest.
int main() {
  int* s;

  if ('A' != 65) return 1;
  if ('\n' != 10) return 2;
  if ('\t' != 9) return 3;
  if ('\0' != 0) return 4;
  if ('\\' != 92) return 5;
  if ('\'' != 39) return 6;
  if ('"' != 34) return 7;
  s = "ABCDE";
  if (*s != 65 + 256 * 66 + 65536 * 67 + 16777216 * 68) return 8;
  if (*(s + 1) != 69) return 9;
  s = "";
  if (*s != 0) return 10;
  if (*"a\"b" != 97 + 256 * 34 + 65536 * 98) return 11;
  return 0;
}
