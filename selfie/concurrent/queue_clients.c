// queue_clients — three contexts on one queue: two enqueue and dequeue, one enqueues twice. The explorer checks that a
// queue could have given what they saw. Context n has the nodes 2 n + 2 and 2 n + 3, each with its number as its value.

int threads = 3;

int ENQUEUE = 3;  // what invoke() knows
int DEQUEUE = 4;

void make_queue();
void enqueue(int node);
int dequeue();

void enqueue_recorded(int node) {
  *(value + node) = node;
  invoke(ENQUEUE, node);
  enqueue(node);
  respond(0);
}

void dequeue_recorded() {
  int result;

  invoke(DEQUEUE, 0);
  result = dequeue();
  respond(result);
}

void before() { make_queue(); }

void thread(int self) {
  enqueue_recorded(2 * self + 2);
  if (self == 2) enqueue_recorded(2 * self + 3);
  else dequeue_recorded();
}

// Nothing is lost: what is left can be taken, and then there is nothing.
void after() {
  int n;

  n = 0;
  while (dequeue() != 0) n = n + 1;
  assert(n <= 4);
}
