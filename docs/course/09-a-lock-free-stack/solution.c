int* top;   // count * 8 + node; nodes are 1 to 7, 0 is none
int* next;  // of each node

void make_stack() {
  top = malloc(4);
  next = malloc(32);
  *top = 0;
}

void push(int node) {
  int old;

  old = *top;
  *(next + node) = old % 8;
  while (compare_and_swap(top, old, (old / 8 + 1) * 8 + node) == 0) {
    old = *top;
    *(next + node) = old % 8;
  }
}

int pop() {
  int old;

  old = *top;
  while (old % 8 != 0) {
    if (compare_and_swap(top, old, (old / 8 + 1) * 8 + *(next + old % 8))) return old % 8;
    old = *top;
  }
  return 0;
}
