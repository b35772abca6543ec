// free_list — first fit: the free blocks are a list in the order of their addresses; the first that is large enough is used,
// what is left of it stays free, and neighbours become one block again. Knuth, volume 1, section 2.5.
//
//   block      one word with its size, itself included, then what the user gets; in a free block the next free one
//   invariant  the list is sorted, and no two blocks in it touch

int* free_first;

void start_heap() {
  free_first = heap;
  *heap = heap_words;
  *(heap + 1) = 0;
  paint(heap, 1, HEADER);
  paint(heap + 1, heap_words - 1, FREE);
}

int* next_of(int* block) { return (int*)*(block + 1); }

// 0 for `before` means the list's head.
void link_behind(int* before, int* block) {
  if (before == 0) free_first = block;
  else *(before + 1) = (int)block;
}

int* allocate(int words) {
  int* before;
  int* block;
  int* rest;

  words = words + 1;
  if (words < 2) words = 2;
  before = 0;
  block = free_first;
  while (block != 0) {
    if (*block >= words) {
      if (*block - words >= 2) {  // a block needs two words to be free
        rest = block + words;
        *rest = *block - words;
        *(rest + 1) = *(block + 1);
        *block = words;
        link_behind(before, rest);
        paint(rest, 1, HEADER);
      } else link_behind(before, next_of(block));
      paint(block, 1, HEADER);
      paint(block + 1, *block - 1, USED);
      return block + 1;
    }
    before = block;
    block = next_of(block);
  }
  return 0;
}

// The block swallows its right neighbour, if that is free.
void join(int* block) {
  int* next;

  next = next_of(block);
  if (next != 0)
    if (block + *block == next) {
      *block = *block + *next;
      *(block + 1) = *(next + 1);
      paint(next, 1, FREE);
    }
}

void release(int* user) {
  int* block;
  int* before;
  int* next;

  block = user - 1;
  before = 0;
  next = free_first;
  while ((next != 0) * (next < block)) {
    before = next;
    next = next_of(next);
  }
  *(block + 1) = (int)next;
  link_behind(before, block);
  paint(block + 1, *block - 1, FREE);
  join(block);
  if (before != 0) join(before);
}
