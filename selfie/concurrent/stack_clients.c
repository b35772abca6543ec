// stack_clients — three contexts on one stack of nodes that come back: one only pops, one pops two and pushes the first
// again, one pops and pushes. What they saw is recorded; the explorer checks that a stack could have given it.
//
// A node is the value that it carries, so whoever pops a node has it, and may push it again.

int threads = 3;

int PUSH = 1;  // what invoke() knows
int POP = 2;

void make_stack();
void push(int node);
int pop();

void push_recorded(int node) {
  invoke(PUSH, node);
  push(node);
  respond(0);
}

int pop_recorded() {
  int node;

  invoke(POP, 0);
  node = pop();
  respond(node);
  return node;
}

void before() {
  make_stack();
  push_recorded(3);
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

// What is left is a list: it ends.
void after() {
  int n;

  n = 0;
  while (pop() != 0) {
    n = n + 1;
    assert(n <= 3);
  }
}
