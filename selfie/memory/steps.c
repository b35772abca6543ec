// steps — one sequence of allocations and releases for every allocator, drawn after each step. Every block is filled with
// its number and looked at before it goes: an allocator that hands out a word twice is found out.

int* allocate(int words);
void release(int* block);
void start_heap();

int* block_of;  // of each number
int* words_of;

void take(int number, int words, int* what) {
  int i;

  *(words_of + number) = words;
  *(block_of + number) = (int)allocate(words);
  assert(*(block_of + number) != 0);
  i = 0;
  while (i < words) {
    *((int*)*(block_of + number) + i) = number;
    i = i + 1;
  }
  draw(what);
}

void look(int number) {
  int i;

  i = 0;
  while (i < *(words_of + number)) {
    assert(*((int*)*(block_of + number) + i) == number);
    i = i + 1;
  }
}

void give(int number, int* what) {
  look(number);
  release((int*)*(block_of + number));
  draw(what);
}

int main(int argc, int* argv) {
  int i;

  block_of = malloc(64);
  words_of = malloc(64);
  start_map(argc, argv);
  start_heap();
  draw("at the start");
  take(1, 6, "1 = allocate(6)");
  take(2, 12, "2 = allocate(12)");
  take(3, 6, "3 = allocate(6)");
  take(4, 25, "4 = allocate(25)");
  give(2, "release(2)");
  give(1, "release(1)");
  take(5, 14, "5 = allocate(14)");
  take(6, 2, "6 = allocate(2)");
  look(3);
  give(4, "release(4)");
  give(3, "release(3)");
  give(6, "release(6)");
  give(5, "release(5)");
  // And then many, so that who does not reuse memory runs out of it.
  i = 0;
  while (i < 40) {
    *(block_of + 7) = (int)allocate(10);
    if (*(block_of + 7) == 0) {
      draw("out of memory");
      print("out of memory after ");
      print_number(i);
      print(" times allocate(10)\n");
      end_map();
      return 1;
    }
    release((int*)*(block_of + 7));
    i = i + 1;
  }
  draw("40 times allocate(10), release");
  end_map();
  return 0;
}
