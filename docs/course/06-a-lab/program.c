// Two classes, two spans; a third when the first is full; an empty one goes back.
int main(int argc, int* argv) {
  int* a;
  int* b;
  int i;

  start_map(argc, argv);
  start_heap();
  a = allocate(9);
  b = allocate(2);
  draw("allocate(9), allocate(2): a span each");
  i = 0;
  while (i < 3) {
    a = allocate(8);
    i = i + 1;
  }
  draw("three more of 8: the span is full, another one is hot");
  release(a);
  release(b);
  draw("two came back");
  return 0;
}
