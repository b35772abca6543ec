// status 6
// argc, argv and their characters.
int main(int argc, int* argv) {
  int* text;

  if (argc != 3) return 100 + argc;
  text = (int*)*(argv + 1);
  if (*text != 97 + 256 * 98) return 1;
  text = (int*)*(argv + 2);
  if (*text != '1') return 2;
  write(1, "ab\n", 3);
  return argc * 2;
}
