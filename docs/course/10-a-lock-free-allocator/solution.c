int PARTIAL = 0;  // some blocks are free
int FULL = 1;     // none is
int EMPTY = 2;    // all are

int capacity = 5;
int* anchor;
int* next;  // of each free block, 0 at the end

int tag_of(int a) { return a / 1024; }

int state_of(int a) { return a / 256 % 4; }

int count_of(int a) { return a / 16 % 16; }

int first_of(int a) { return a % 16; }

int make(int tag, int state, int count, int first) { return tag * 1024 + state * 256 + count * 16 + first; }

void make_superblock() {
  anchor = malloc(4);
  next = malloc(24);
  *(next + 1) = 2;
  *(next + 2) = 3;
  *(next + 3) = 4;
  *(next + 4) = 5;
  *(next + 5) = 0;
  *anchor = make(0, EMPTY, 5, 1);
}

// A free block, 0 when there is none. The tag goes up: the word is another one even if the same block comes back first.
int take() {
  int a;
  int state;

  while (1) {
    a = *anchor;
    if (count_of(a) == 0) return 0;
    state = PARTIAL;
    if (count_of(a) == 1) state = FULL;
    if (compare_and_swap(anchor, a, make(tag_of(a) + 1, state, count_of(a) - 1, *(next + first_of(a)))))
      return first_of(a);
  }
}

// Gives a block back; returns the state of the superblock that this has made.
int give(int block) {
  int a;
  int state;

  while (1) {
    a = *anchor;
    *(next + block) = first_of(a);
    state = PARTIAL;
    if (count_of(a) + 1 == capacity) state = EMPTY;
    if (compare_and_swap(anchor, a, make(tag_of(a), state, count_of(a) + 1, block))) return state;
  }
}
