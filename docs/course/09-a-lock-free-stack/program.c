int threads = 3;
int* top;
int* next;
int* owner;  // of each node: 0 while it is in the stack

void push(int node) {
  int old;

  *(owner + node) = 0;
  old = *top;
  *(next + node) = old;
  while (compare_and_swap(top, old, node) == 0) {
    old = *top;
    *(next + node) = old;
  }
}

int pop() {
  int node;

  node = *top;
  while (node != 0) {
    if (compare_and_swap(top, node, *(next + node))) {
      assert(*(owner + node) == 0);
      *(owner + node) = 1;
      return node;
    }
    node = *top;
  }
  return 0;
}

void before() {
  top = malloc(4);
  next = malloc(16);
  owner = malloc(16);
  push(2);
  push(1);
}

void thread(int self) {
  int a;

  a = pop();
  if (self != 1) return;
  pop();
  if (a != 0) push(a);
}
