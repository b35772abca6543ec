// token — reclamation by a token that goes round: a context passes it on between two operations. What was retired before
// the token came is safe when it has come once more: everyone has been outside since. Kim, thesis, sec. 3.4; the token is
// Tam's, 2006. Polder's is src/polder/smr/epoch/token_ring.hpp.
//
//   progress   readers are wait-free; reclamation waits for every context to pass the token
//   invariant  the token has one holder, and only the holder passes it
//
// Context 0 replaces a node, retires the old one, and frees it after a whole round. The others read between passes.

int threads = 3;

int* holder;  // of the token
int* shared;
int* live;  // of each node

void before() {
  holder = malloc(4);
  shared = malloc(4);
  live = malloc(12);
  *holder = 0;
  *shared = 1;
  *(live + 1) = 1;
  *(live + 2) = 1;
}

void wait_for_token(int self) {
  while (*holder != self) yield();
}

void pass_token(int self) {
  assert(*holder == self);
  *holder = (self + 1) % threads;
}

void read_shared() {
  int node;

  node = *shared;
  assert(*(live + node) == 1);
}

void thread(int self) {
  int old;

  if (self == 0) {
    old = *shared;
    *shared = 2;
    wait_for_token(0);  // what was retired before it came…
    pass_token(0);
    wait_for_token(0);  // …is safe when it has come again
    *(live + old) = 0;
  } else {
    read_shared();
    wait_for_token(self);
    pass_token(self);
    read_shared();
  }
}

void after() { assert(*holder == 0); }
