// bump — the simplest allocator: the next block begins where the last one ends, and nothing comes back.

int bump_next = 0;  // words handed out

void start_heap() { bump_next = 0; }

int* allocate(int words) {
  int* block;

  if (words > heap_words - bump_next) return 0;
  block = heap + bump_next;
  bump_next = bump_next + words;
  paint(block, words, USED);
  return block;
}

// The map shows what is lost.
void release(int* block) { paint(block, 1, HEADER); }
