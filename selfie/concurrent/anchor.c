// anchor — the one word that says which blocks of a superblock are free. Michael, PLDI 2004; here as in LRMalloc (Leite
// and Rocha 2018, listings 1.3 to 1.5): blocks are given back one by one, and taken all at once.
//
//   progress   lock-free
//   invariant  free blocks + blocks held == 3, the capacity
//
//            open [every block is mine]         take_all [every block taken is mine]
//    empty ────────────────────────────▶ full ◀───────────────────────────────────────┐
//      ▲                                  │  give [list the superblock as partial]     │
//      │                                  └─────────────────────────────────▶ partial ─┘
//      └───────────── give, the last block [the superblock is free: release it] ◀──┘
//
// The word is state * 64 + count * 8 + first free block, blocks being 1 to 3. Linking the first free block into the one
// that is given must be done again in every attempt; who takes owns the blocks from its swap on.

int threads = 3;

int EMPTY = 0;
int PARTIAL = 1;
int FULL = 2;

int* anchor;
int* next;      // of each free block
int* listed;    // 1 while the superblock is in the list of partial ones
int* released;  // how often it has become empty
int* holder;    // of each block: who holds it, 9: nobody

void before() {
  int b;

  anchor = malloc(4);
  listed = malloc(4);
  released = malloc(4);
  next = malloc(16);
  holder = malloc(16);
  *anchor = FULL * 64;
  *listed = 0;
  *released = 0;
  b = 1;
  while (b <= 3) {
    *(holder + b) = b - 1;
    b = b + 1;
  }
}

// Returns the state before.
int give(int block) {
  int old;
  int count;
  int state;
  int done;

  *(holder + block) = 9;
  done = 0;
  while (done == 0) {
    old = *anchor;
    *(next + block) = old % 8;
    count = old / 8 % 8 + 1;
    state = PARTIAL;
    if (count == 3) state = EMPTY;
    done = compare_and_swap(anchor, old, state * 64 + count * 8 + block);
  }
  if (state == EMPTY) *released = *released + 1;
  return old / 64;
}

// Takes every free block. Only for who unlisted the superblock. Returns the first.
int take_all() {
  int old;

  old = *anchor;
  while (old / 64 != EMPTY) {
    if (compare_and_swap(anchor, old, FULL * 64)) return old % 8;
    old = *anchor;
  }
  return 0;
}

// Each gives its block; who gave the first of a full superblock lists it. Context 0 takes once, if it is listed.
void thread(int self) {
  int block;
  int following;

  if (give(self + 1) == FULL) *listed = 1;
  if (self != 0) return;
  if (compare_and_swap(listed, 1, 0)) {
    block = take_all();
    while (block != 0) {
      following = *(next + block);
      assert(*(holder + block) == 9);
      *(holder + block) = 0;
      block = following;
    }
  }
}

void after() {
  int block;
  int free;
  int held;

  free = *anchor / 8 % 8;
  held = 0;
  block = 1;
  while (block <= 3) {
    if (*(holder + block) != 9) held = held + 1;
    block = block + 1;
  }
  assert(free + held == 3);
  if (free == 3) assert(*anchor / 64 == EMPTY);
  if (free == 3) assert(*released == 1);
  if (free < 3) assert(*released == 0);
  // The list of free blocks is as long as the count says.
  block = *anchor % 8;
  while (free > 0) {
    assert(block != 0);
    assert(*(holder + block) == 9);
    block = *(next + block);
    free = free - 1;
  }
  assert(block == 0);
}
