// treiber — a stack of nodes that come back, without a tag. Treiber 1986.
//
//   progress   lock-free
//   broken     ABA. pop has read top and the node below it; before its swap, others take both and push the first again.
//              The swap finds the top it expects and succeeds: top is now a node that somebody else has
//
// Nodes are 1 to 7; 0 is none. Found by: selfie -c treiber.c stack_clients.c -x 1 3

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
    *(next + node) = old;
    done = compare_and_swap(top, old, node);
  }
}

int pop() {
  int node;
  int below;

  while (1) {
    node = *top;
    if (node == 0) return 0;
    below = *(next + node);
    if (compare_and_swap(top, node, below)) return node;
  }
}
