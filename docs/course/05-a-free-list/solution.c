int* free_first;

void start(int* begin, int words) {
  free_first = begin;
  *begin = words;
  *(begin + 1) = 0;
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
      rest = (int*)*(block + 1);
      if (*block - words >= 2) {
        rest = block + words;
        *rest = *block - words;
        *(rest + 1) = *(block + 1);
        *block = words;
      }
      if (before == 0) free_first = rest;
      else *(before + 1) = (int)rest;
      return block + 1;
    }
    before = block;
    block = (int*)*(block + 1);
  }
  return 0;
}

// `user` is what allocate returned: the block begins one word before. Into the sorted list, joined with what it touches.
void release(int* user) {
  int* block;
  int* before;
  int* next;

  block = user - 1;
  before = 0;
  next = free_first;
  while ((next != 0) * (next < block)) {
    before = next;
    next = (int*)*(next + 1);
  }
  *(block + 1) = (int)next;
  if (next != 0)
    if (block + *block == next) {
      *block = *block + *next;
      *(block + 1) = *(next + 1);
    }
  if (before == 0) free_first = block;
  else if (before + *before == block) {
    *before = *before + *block;
    *(before + 1) = *(block + 1);
  } else *(before + 1) = (int)block;
}
