// One pops, one pops two and pushes the first again, one pops and pushes.
int threads = 3;

void push_recorded(int node) {
  invoke(1, node);
  push(node);
  respond(0);
}

int pop_recorded() {
  int node;

  invoke(2, 0);
  node = pop();
  respond(node);
  return node;
}

void before() {
  make_stack();
  push_recorded(2);
  push_recorded(1);
}

void thread(int self) {
  int a;

  a = pop_recorded();
  if (self == 0) return;
  if (self == 1) pop_recorded();
  if (a != 0) push_recorded(a);
}

void after() {
  int n;

  n = 0;
  while (pop() != 0) {
    n = n + 1;
    assert(n <= 2);
  }
}
