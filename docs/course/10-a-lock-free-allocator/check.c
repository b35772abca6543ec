// Three contexts hold a block each, two are free. One gives its own back; one takes a block, gives it back, then its own;
// one takes two, gives them back, then its own. So the superblock becomes empty once, with the last block, and one context is
// told. A block belongs to one at a time.
int threads = 3;

int* owned;  // of each block
int* told;   // of each context: how often give() has said EMPTY

int take_checked() {
  int block;

  block = take();
  if (block != 0) {
    assert(block <= 5);
    assert(*(owned + block) == 0);
    *(owned + block) = 1;
  }
  return block;
}

void give_checked(int self, int block) {
  if (block == 0) return;
  *(owned + block) = 0;
  if (give(block) == EMPTY) *(told + self) = *(told + self) + 1;
}

int* own;

void before() {
  make_superblock();
  owned = malloc(24);
  told = malloc(12);
  own = malloc(12);
  *own = take_checked();
  *(own + 1) = take_checked();
  *(own + 2) = take_checked();
  assert(state_of(*anchor) == PARTIAL);
}

void thread(int self) {
  int a;
  int b;

  if (self > 0) {
    a = take_checked();
    b = 0;
    if (self == 2) b = take_checked();
    give_checked(self, a);
    give_checked(self, b);
  }
  give_checked(self, *(own + self));
}

void after() {
  int block;
  int n;

  assert(state_of(*anchor) == EMPTY);
  assert(count_of(*anchor) == 5);
  assert(*told + *(told + 1) + *(told + 2) == 1);
  n = 0;
  block = first_of(*anchor);
  while (block != 0) {
    n = n + 1;
    assert(n <= 5);
    block = *(next + block);
  }
  assert(n == 5);
}
