// Three neighbours come back, the middle one last.
int main(int argc, int* argv) {
  int* a;
  int* b;
  int* c;

  start_map(argc, argv);
  start_heap();
  a = allocate(20);
  b = allocate(30);
  c = allocate(40);
  allocate(10);
  draw("20, 30, 40, 10");
  release(a);
  release(c);
  draw("the first and the third came back");
  release(b);
  draw("and the second: one free block of all three");
  return 0;
}
