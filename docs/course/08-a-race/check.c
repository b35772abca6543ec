// Three contexts, two additions each.
int threads = 3;

int* n;

void before() { n = malloc(4); }

void thread(int self) {
  increment(n);
  increment(n);
}

void after() { assert(*n == 6); }
