// debra — epoch-based reclamation as in DEBRA: each context announces the epoch in which it works; the epoch advances when
// all that work have announced it; what was retired two epochs ago is safe. Brown, PODC 2015; Polder's is
// src/polder/smr/epoch/epoch.hpp.
//
//   progress   readers are wait-free; reclamation waits for who stays inside an operation
//   invariant  who is inside an operation has announced an epoch that was; the epoch goes one further at most. So who may
//              still hold what was retired in epoch e keeps the epoch at e + 2 at most
//
// One context replaces a shared node twice and retires what it took out; two read the node. A freed node's `live` is 0: a
// reader that finds 0 has used memory after its end.

int threads = 3;

int* epoch;
int* announced;   // of each context: 2 * epoch + 1 inside an operation, 0 outside
int* shared;      // the node that all may read
int* live;        // of each node, 1 to 3
int* bag;         // of the writer: for each epoch modulo 3 one retired node
int* last_epoch;  // of the writer

void before() {
  epoch = malloc(4);
  shared = malloc(4);
  last_epoch = malloc(4);
  announced = malloc(12);
  bag = malloc(12);
  live = malloc(16);
  *epoch = 3;
  *last_epoch = 3;
  *shared = 1;
  *(live + 1) = 1;
  *(live + 2) = 1;
  *(live + 3) = 1;
}

// To the bag of a new epoch: what is in it was retired three epochs ago.
void rotate(int e) {
  int node;

  if (*last_epoch == e) return;
  *last_epoch = e;
  node = *(bag + e % 3);
  if (node != 0) {
    *(live + node) = 0;
    *(bag + e % 3) = 0;
  }
}

int enter(int self) {
  int e;

  e = *epoch;
  *(announced + self) = 2 * e + 1;
  return e;
}

void leave(int self) { *(announced + self) = 0; }

// On to the next epoch, if nobody works in an older one.
void advance(int e) {
  int t;
  int seen;

  t = 0;
  while (t < threads) {
    seen = *(announced + t);
    if (seen != 0)
      if (seen != 2 * e + 1) return;
    t = t + 1;
  }
  compare_and_swap(epoch, e, e + 1);
}

void replace(int self, int node) {
  int old;
  int e;

  e = enter(self);
  rotate(e);
  old = *shared;
  *shared = node;
  *(bag + e % 3) = old;
  leave(self);
  advance(e);
}

// An operation that touches nothing, as others do meanwhile.
void idle(int self) {
  int e;

  e = enter(self);
  rotate(e);
  leave(self);
  advance(e);
}

void read_shared(int self) {
  int node;

  enter(self);
  node = *shared;
  assert(*(live + node) == 1);
  leave(self);
}

void thread(int self) {
  if (self == 0) {
    replace(0, 2);
    replace(0, 3);
    idle(0);
    idle(0);
  } else read_shared(self);
}

void after() { assert(*(live + *shared) == 1); }
