// span — what listing 3 of the scalloc paper says of one span, around which its frees race. Aigner et al. 2015, sec. 5.
//
//   expected ─▶ hot ─▶ floating ─▶ reusable ─▶ free      (reusable and free may become hot again: not here)
//
// A LAB has filled a span of three blocks, which floats. Two contexts free its blocks: the owner one, another one two. More
// than one free block make it reusable, three make it free. `in_set` and `in_pool` are what the model looks at, no part of
// the protocol: a span is in one place.
//
// How a span is marked and moved is in listing3.c as printed, and in listing3_locked.c as Polder has it.

int threads = 2;

int FREE = 1;
int HOT = 2;
int FLOATING = 3;
int REUSABLE = 4;

int* epoch;   // state * 1000 + a count against ABA
int* blocks;  // free ones
int* lock;    // of the set of reusable spans
int* in_set;
int* in_pool;

void before() {
  epoch = malloc(4);
  blocks = malloc(4);
  lock = malloc(4);
  in_set = malloc(4);
  in_pool = malloc(4);
  *epoch = FLOATING * 1000;
}

// Figure 3's arrows, as far as frees go along them.
int arrow(int from, int to) {
  if (to == REUSABLE) return from == FLOATING;
  if (to == FREE) return from == REUSABLE;
  return 0;
}

int try_mark(int old_epoch, int state) {
  if (arrow(old_epoch / 1000, state) == 0) return 0;
  return compare_and_swap(epoch, old_epoch, state * 1000 + old_epoch % 1000 + 1);
}

void acquire() {
  while (compare_and_swap(lock, 0, 1) == 0) yield();
}

void release() { *lock = 0; }

// The place of a span, changed by so much. Each is changed under a lock of its own in the paper; here that is one step.
void move(int* place, int by) {
  int old;

  old = *place;
  while (compare_and_swap(place, old, old + by) == 0) old = *place;
}

void free_block() {
  int old;

  old = *blocks;
  while (compare_and_swap(blocks, old, old + 1) == 0) old = *blocks;
}

void deallocate();

void thread(int self) {
  deallocate();
  if (self == 1) deallocate();
}

void after() {
  assert(*blocks == 3);
  assert(*in_set >= 0);
  assert(*in_set + *in_pool <= 1);
}
