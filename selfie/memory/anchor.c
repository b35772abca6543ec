// anchor — Michael's allocator: the state of a superblock is one word, changed by compare-and-swap alone, so that no thread
// waits for another. Michael, PLDI 2004; concurrent/anchor.c runs its word through all interleavings.
//
//   anchor      state * 2^16 + tag * 2^10 + count * 2^5 + first: the first free block, how many are free, and a count
//               against ABA that goes up whenever a block is taken
//   superblock  32 words of blocks of one size; its descriptor lies elsewhere: anchor, class, next of the list
//   block       its first word is the descriptor's number plus one; in a free block the next word is the next free block
//
//             allocate, the last block               release                release, the last block
//   ACTIVE ──────────────────────────────▶ FULL ─────────────────▶ PARTIAL ─────────────────────────▶ EMPTY
//      ▲ └▶ any other allocate or release                              │  found by allocate: ACTIVE again
//      └───────────────────────────────────────────────────────────────┘

int ACTIVE = 0;
int FULL = 1;
int PARTIAL = 2;
int EMPTY = 3;

int superblock_words = 32;
int descriptors = 8;  // one for each superblock
int* anchors;
int* class_of;  // of each descriptor, -1 while its superblock is free
int classes = 4;
int* class_words;  // with the block's first word
int* active;       // of each class the active descriptor, -1: none

void start_heap() {
  int i;

  anchors = malloc(32);
  class_of = malloc(32);
  class_words = malloc(16);
  active = malloc(16);
  i = 0;
  while (i < descriptors) {
    *(anchors + i) = EMPTY * 65536;
    *(class_of + i) = -1;
    i = i + 1;
  }
  *class_words = 4;
  *(class_words + 1) = 8;
  *(class_words + 2) = 16;
  *(class_words + 3) = 32;
  i = 0;
  while (i < classes) {
    *(active + i) = -1;
    i = i + 1;
  }
}

int state_of(int anchor) { return anchor / 65536; }

int tag_of(int anchor) { return anchor / 1024 % 64; }

int count_of(int anchor) { return anchor / 32 % 32; }

int first_of(int anchor) { return anchor % 32; }

int make_anchor(int state, int tag, int count, int first) {
  return state * 65536 + tag % 64 * 1024 + count * 32 + first;
}

int capacity_of(int d) { return superblock_words / *(class_words + *(class_of + d)); }

int* block_at(int d, int i) { return heap + d * superblock_words + i * *(class_words + *(class_of + d)); }

// An empty superblock for a class; every block is free and linked to the next.
int open_superblock(int class) {
  int d;
  int i;

  d = 0;
  while (d < descriptors) {
    if (*(class_of + d) < 0) {
      *(class_of + d) = class;
      i = 0;
      while (i < capacity_of(d)) {
        *block_at(d, i) = d + 1;
        *(block_at(d, i) + 1) = i + 1;
        paint(block_at(d, i), 1, HEADER);
        paint(block_at(d, i) + 1, *(class_words + class) - 1, FREE);
        i = i + 1;
      }
      *(anchors + d) = make_anchor(ACTIVE, 0, capacity_of(d), 0);
      return d;
    }
    d = d + 1;
  }
  return -1;
}

// A partial superblock of the class becomes active again.
int find_partial(int class) {
  int d;
  int old;

  d = 0;
  while (d < descriptors) {
    if (*(class_of + d) == class) {
      old = *(anchors + d);
      if (state_of(old) == PARTIAL)
        if (compare_and_swap(anchors + d, old, old + (ACTIVE - PARTIAL) * 65536)) return d;
    }
    d = d + 1;
  }
  return -1;
}

// One block of an active superblock; 0 if it has none.
int* take_block(int d) {
  int old;
  int next;
  int state;

  while (1) {
    old = *(anchors + d);
    if (count_of(old) == 0) return 0;
    next = *(block_at(d, first_of(old)) + 1);
    state = ACTIVE;
    if (count_of(old) == 1) state = FULL;
    if (state == FULL) next = 0;
    if (compare_and_swap(anchors + d, old, make_anchor(state, tag_of(old) + 1, count_of(old) - 1, next)))
      return block_at(d, first_of(old));
  }
}

int* allocate(int words) {
  int class;
  int d;
  int* block;

  class = 0;
  while (*(class_words + class) < words + 1) {
    class = class + 1;
    if (class == classes) return 0;
  }
  while (1) {
    d = *(active + class);
    if (d < 0) d = find_partial(class);
    if (d < 0) d = open_superblock(class);
    if (d < 0) return 0;
    *(active + class) = d;
    block = take_block(d);
    if (block != 0) {
      if (state_of(*(anchors + d)) == FULL) *(active + class) = -1;
      paint(block + 1, *(class_words + class) - 1, USED);
      return block + 1;
    }
    *(active + class) = -1;
  }
}

void release(int* user) {
  int* block;
  int d;
  int i;
  int old;
  int state;
  int done;

  block = user - 1;
  d = *block - 1;
  i = (block - heap - d * superblock_words) / *(class_words + *(class_of + d));
  paint(user, *(class_words + *(class_of + d)) - 1, FREE);
  done = 0;
  while (done == 0) {
    old = *(anchors + d);
    *(block + 1) = first_of(old);
    state = state_of(old);
    if (state == FULL) state = PARTIAL;
    if (state == PARTIAL)
      if (count_of(old) + 1 == capacity_of(d)) state = EMPTY;
    done = compare_and_swap(anchors + d, old, make_anchor(state, tag_of(old), count_of(old) + 1, i));
  }
  if (state == EMPTY) {
    *(class_of + d) = -1;
    paint(heap + d * superblock_words, superblock_words, UNTOUCHED);
  }
}
