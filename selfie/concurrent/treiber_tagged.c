// treiber_tagged — Treiber's stack whose top counts the swaps beside the node: the same node with another count is another
// top. Treiber 1986; the tag after IBM's System/370 principles of operation.
//
//   progress   lock-free
//   invariant  a word that top held once is never its value again (until the count is back where it was: after 2^28 swaps)
//
// Here top = 8 * count + node, as C* has no bits.

int* top;
int* next;  // of each node

void make_stack() {
  top = malloc(4);
  next = malloc(32);
  *top = 0;
}

void push(int node) {
  int old;
  int done;

  done = 0;
  while (done == 0) {
    old = *top;
    *(next + node) = old % 8;
    done = compare_and_swap(top, old, (old / 8 + 1) * 8 + node);
  }
}

int pop() {
  int old;
  int below;

  while (1) {
    old = *top;
    if (old % 8 == 0) return 0;
    below = *(next + old % 8);
    if (compare_and_swap(top, old, (old / 8 + 1) * 8 + below)) return old % 8;
  }
}
