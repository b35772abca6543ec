int* top;   // count * 8 + node; nodes are 1 to 7, 0 is none
int* next;  // of each node

void make_stack() {
  top = malloc(4);
  next = malloc(32);
  *top = 0;
}

// yours: without the count, a node that comes back is mistaken for the same
void push(int node) {
  int old;

  old = *top;
  *(next + node) = old;
  while (compare_and_swap(top, old, node) == 0) {
    old = *top;
    *(next + node) = old;
  }
}

int pop() {
  int old;

  old = *top;
  while (old != 0) {
    if (compare_and_swap(top, old, *(next + old))) return old;
    old = *top;
  }
  return 0;
}
