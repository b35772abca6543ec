// Each adds 1; sometimes 1 and 1 is 1.
int* n;

void before() { n = malloc(4); }

void thread(int self) { *n = *n + 1; }

void after() { assert(*n == 2); }
