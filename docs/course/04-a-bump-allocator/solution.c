int* heap_begin;
int* heap_end;
int* next;  // the first word that nobody has

void start(int* begin, int words) {
  heap_begin = begin;
  heap_end = begin + words;
  next = begin;
}

// A block at an address that is a multiple of so many words; 0 when there is no room.
int* allocate(int words, int multiple) {
  int* block;
  int over;

  block = next;
  over = (int)block % (multiple * 4) / 4;
  if (over > 0) block = block + (multiple - over);
  if (block > heap_end) return 0;
  if (words > heap_end - block) return 0;
  next = block + words;
  return block;
}
