int* nodes;

int* at(int i) { return nodes + 3 * i; }

void link(int from, int which, int to) { *(at(from) + which) = (int)at(to); }

// Nodes 0 to n - 1 must be marked, the others not.
void expect(int n, int* what) {
  int i;

  i = 0;
  while (i < 12) {
    if (*at(i) != (i < n)) {
      print(what);
      print(": expected ");
      if (i < n) print("a mark at node ");
      else print("no mark at node ");
      print_number(i);
      print("\n");
      exit(1);
    }
    *at(i) = 0;
    i = i + 1;
  }
}

int main() {
  int i;

  nodes = malloc(144);
  i = 0;
  while (i < 36) {
    *(nodes + i) = 0;
    i = i + 1;
  }
  mark(0);
  expect(0, "nothing");
  mark(at(0));
  expect(1, "one node");
  link(0, 1, 1);
  link(1, 2, 2);
  link(11, 1, 0);
  mark(at(0));
  expect(3, "a chain");
  link(2, 1, 0);  // a ring
  mark(at(0));
  expect(3, "a ring");
  link(0, 2, 3);
  link(3, 1, 4);
  link(3, 2, 4);
  link(4, 1, 4);
  mark(at(0));
  expect(5, "a graph");
  return 100;  // seen to its end; 0 may be an exit() of what is checked
}
