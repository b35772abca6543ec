// What the heap looks like when nothing comes back.
int main(int argc, int* argv) {
  int* block;
  int i;

  start_map(argc, argv);
  start_heap();
  draw("at the start");
  i = 1;
  while (i < 7) {
    block = allocate(10 * i);
    if (i % 2 == 0) release(block);
    i = i + 1;
  }
  draw("10, 20, … 60 words; of each second block the release shows as +");
  if (allocate(60) == 0) print("and no room for 60 words more\n");
  return 0;
}
