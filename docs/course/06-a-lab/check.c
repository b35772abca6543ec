void say(int* what, int n) {
  print(what);
  print_number(n);
  print("\n");
  exit(1);
}

int main() {
  int n;
  int size;
  int* heap;
  int* span;
  int* block;

  n = 1;
  while (n <= 100) {
    size = 2;
    while (class_of(size) < class_of(n)) size = size * 2;
    if (size < n) say("expected a class whose blocks are large enough for words: ", n);
    if (n > 2)
      if (size / 2 >= n) say("expected the smallest class for words: ", n);
    n = n + 1;
  }
  if (class_of(2) != 0) say("expected class 0 for 2 words, found ", class_of(2));
  if (class_of(16) != 3) say("expected class 3 for 16 words, found ", class_of(16));
  if (class_of(17) != 4) say("expected class 4 for 17 words, found ", class_of(17));

  heap = malloc(1024);
  n = 0;
  while (n < 256) {
    if (span_of(heap, heap + n) != heap + n / 64 * 64) say("expected the span of the word ", n);
    n = n + 1;
  }

  span = heap + 64;
  *span = 0;
  *(span + 1) = 0;
  n = 0;
  while (n < 3) {
    block = span + 8 + 16 * n;
    *block = *span;
    *span = (int)block;
    n = n + 1;
  }
  while (n > 0) {
    n = n - 1;
    block = take(span);
    if (block != span + 8 + 16 * n) say("expected the list's first block; blocks left: ", n);
    if (*(span + 1) != 3 - n) say("expected to be counted as in use: ", 3 - n);
    *block = 77;
  }
  if (take(span) != 0) say("expected 0 from a full span; blocks in use: ", 3);
  if (*(span + 1) != 3) say("expected 3 blocks in use, found ", *(span + 1));
  return 100;  // seen to its end; 0 may be an exit() of what is checked
}
