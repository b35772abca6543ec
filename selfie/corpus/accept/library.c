// status 0
// What is written can be read; malloc says 0 when there is no more.
int main() {
  int file;
  int* buffer;

  buffer = malloc(4096);
  file = open("library.tmp", 577, 420);
  if (file < 0) return 1;
  if (write(file, "twelve bytes", 12) != 12) return 2;
  file = open("library.tmp", 0, 0);
  if (read(file, buffer, 4096) != 12) return 3;
  if (*(buffer + 1) != 'v' + 256 * 'e' + 65536 * ' ' + 16777216 * 'b') return 4;
  if (open("no such file", 0, 0) >= 0) return 5;
  if (read(99, buffer, 4) >= 0) return 6;
  if (malloc(900000000) != 0) return 7;
  if (malloc(-1) != 0) return 8;
  return 0;
}
