// The smallest class whose blocks have so many words: 2 words are class 0, 3 and 4 are class 1, …
int class_of(int words) {
  int class;
  int size;

  class = 0;
  size = 2;
  while (size < words) {
    size = size * 2;
    class = class + 1;
  }
  return class;
}

// The span in which the block lies: 64 words, aligned to 64 words from the heap's begin.
int* span_of(int* heap, int* block) { return heap + (block - heap) / 64 * 64; }

// The first free block of the span, which is in use from now on; 0 when there is none.
int* take(int* span) {
  int* block;

  block = (int*)*span;
  if (block == 0) return 0;
  *span = *block;
  *(span + 1) = *(span + 1) + 1;
  return block;
}
