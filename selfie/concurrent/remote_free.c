// remote_free — the list of blocks that others have freed: everyone pushes, the owner alone takes, and takes all. Aigner et
// al. 2015, sec. 3.4; in Polder src/polder/sync/inbox.hpp.
//
//   progress   push is lock-free, take_all too (wait-free with an exchange)
//   ABA        cannot hurt: nobody reads through the head that it compares. push only stores it as a link, and a list that
//              was taken and begins with the same block again is linked to as rightly as the one before
//   invariant  every block is in the list, or the owner's, or its freer's: in one place

int threads = 3;

int* remote;  // first block of the list, 0: none
int* next;    // of each block, 1 to 4
int* mine;    // of each block: 1 when the owner has it

void before() {
  remote = malloc(4);
  next = malloc(20);
  mine = malloc(20);
  *remote = 0;
}

void push(int block) {
  int old;
  int done;

  done = 0;
  while (done == 0) {
    old = *remote;
    *(next + block) = old;
    done = compare_and_swap(remote, old, block);
  }
}

int take_all() {
  int old;

  old = *remote;
  while (compare_and_swap(remote, old, 0) == 0) old = *remote;
  return old;
}

void drain() {
  int block;

  block = take_all();
  while (block != 0) {
    assert(*(mine + block) == 0);
    *(mine + block) = 1;
    block = *(next + block);
  }
}

void thread(int self) {
  if (self == 0) {
    drain();
    drain();
  } else {
    push(2 * self - 1);
    push(2 * self);
  }
}

void after() {
  int block;

  drain();
  block = 1;
  while (block <= 4) {
    assert(*(mine + block) == 1);
    block = block + 1;
  }
}
