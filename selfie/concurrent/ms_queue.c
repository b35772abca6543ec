// ms_queue — the queue of Michael and Scott. PODC 1996, figure 1.
//
//   progress   lock-free
//   invariant  head reaches tail, and tail the last node or the one before it
//
// Nodes are 1 to 15 and never come back, so there is no tag. Node 1 is the first dummy. 0 is none.

int* head;
int* tail;
int* next;   // of each node
int* value;  // of each node

void make_queue() {
  head = malloc(4);
  tail = malloc(4);
  next = malloc(64);
  value = malloc(64);
  *head = 1;
  *tail = 1;
  *(next + 1) = 0;
}

// The node is the caller's, with its value in it.
void enqueue(int node) {
  int last;
  int after;
  int done;

  *(next + node) = 0;
  done = 0;
  while (done == 0) {
    last = *tail;
    after = *(next + last);
    if (after == 0) done = compare_and_swap(next + last, 0, node);
    else compare_and_swap(tail, last, after);  // the tail lags behind: help
  }
  compare_and_swap(tail, last, node);
}

int dequeue() {
  int first;
  int last;
  int after;
  int result;

  while (1) {
    first = *head;
    last = *tail;
    after = *(next + first);
    if (first == *head) {
      if (first == last) {
        if (after == 0) return 0;
        compare_and_swap(tail, last, after);
      } else {
        result = *(value + after);
        if (compare_and_swap(head, first, after)) return result;
      }
    }
  }
}
