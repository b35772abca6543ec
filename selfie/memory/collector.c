// collector — mark and sweep, conservatively: whatever looks like a pointer into a block keeps it, because nobody says which
// words are pointers. McCarthy 1960; Boehm and Weiser 1988.
//
//   block   two words: size with them, and a mark; then what the user gets
//   roots   every word of the stack and of the global variables. Temporaries are on the stack when a procedure is called
//   sweep   walks all blocks by their sizes; what has no mark is free, and free neighbours become one
//
// The program below builds a list, a ring and some garbage, and loses them one by one.

int MARKED = 1;
int UNMARKED = 0;
int VACANT = 2;

int* stack_bottom;
int collections = 0;
int kept = 0;   // blocks that the last collection found in use
int freed = 0;  // and those that it made free

int* list = 0;
int* ring = 0;

void start_heap() {
  *heap = heap_words;
  *(heap + 1) = VACANT;
  paint(heap, 2, HEADER);
  paint(heap + 2, heap_words - 2, FREE);
}

// The block in which this address lies behind the header; 0 if there is none.
int* block_with(int address) {
  int* block;

  if (address < (int)heap) return 0;
  if (address >= (int)(heap + heap_words)) return 0;
  block = heap;
  while ((int)(block + *block) <= address) block = block + *block;
  if (address < (int)(block + 2)) return 0;
  if (*(block + 1) == VACANT) return 0;
  return block;
}

void mark_range(int* from, int* to);

void mark(int address) {
  int* block;

  block = block_with(address);
  if (block == 0) return;
  if (*(block + 1) == MARKED) return;
  *(block + 1) = MARKED;
  mark_range(block + 2, block + *block);
}

void mark_range(int* from, int* to) {
  while (from < to) {
    mark(*from);
    from = from + 1;
  }
}

void sweep() {
  int* block;
  int* last;

  last = 0;
  kept = 0;
  freed = 0;
  block = heap;
  while (block < heap + heap_words) {
    if (*(block + 1) == MARKED) {
      *(block + 1) = UNMARKED;
      kept = kept + 1;
      last = 0;
      block = block + *block;
    } else {
      if (*(block + 1) == UNMARKED) freed = freed + 1;
      *(block + 1) = VACANT;
      paint(block, 2, HEADER);
      paint(block + 2, *block - 2, FREE);
      if (last == 0) {
        last = block;
        block = block + *block;
      } else {
        paint(block, 2, FREE);
        *last = *last + *block;
        block = last + *last;
      }
    }
  }
}

void collect() {
  collections = collections + 1;
  mark_range(stack_pointer(), stack_bottom);
  mark_range(globals(), globals_end());
  sweep();
}

int* find_vacant(int words) {
  int* block;
  int* rest;

  block = heap;
  while (block < heap + heap_words) {
    if (*(block + 1) == VACANT)
      if (*block >= words) {
        if (*block - words >= 3) {
          rest = block + words;
          *rest = *block - words;
          *(rest + 1) = VACANT;
          paint(rest, 2, HEADER);
          *block = words;
        }
        *(block + 1) = UNMARKED;
        paint(block, 2, HEADER);
        paint(block + 2, *block - 2, USED);
        return block + 2;
      }
    block = block + *block;
  }
  return 0;
}

// Collects when there is no room, then tries once more. What it hands out is zero: an old pointer in it would keep more.
int* allocate(int words) {
  int* user;
  int i;

  user = find_vacant(words + 2);
  if (user == 0) {
    collect();
    user = find_vacant(words + 2);
    if (user == 0) return 0;
  }
  i = 0;
  while (i < words) {
    *(user + i) = 0;
    i = i + 1;
  }
  return user;
}

int* cons(int value, int* rest) {
  int* pair;

  pair = allocate(2);
  *pair = value;
  *(pair + 1) = (int)rest;
  return pair;
}

void build() {
  int i;

  i = 0;
  while (i < 6) {
    list = cons(i, list);
    cons(100 + i, 0);  // lost at once
    i = i + 1;
  }
  ring = cons(1, cons(2, cons(3, 0)));
  *((int*)*((int*)*(ring + 1) + 1) + 1) = (int)ring;
}

// Overwrites what calls have left below on the stack: an old pointer there would keep its block.
int scrub(int n) {
  int a;
  int b;

  a = 0;
  b = 0;
  if (n > 0) return scrub(n - 1) + a + b;
  return 0;
}

int sum(int* pair) {
  int s;

  s = 0;
  while (pair != 0) {
    s = s + *pair;
    pair = (int*)*(pair + 1);
  }
  return s;
}

void collect_and_draw(int* what, int wanted_kept, int wanted_freed) {
  scrub(20);
  collect();
  draw(what);
  print("kept ");
  print_number(kept);
  print(", freed ");
  print_number(freed);
  print("\n");
  assert(kept == wanted_kept);
  assert(freed == wanted_freed);
}

int main(int argc, int* argv) {
  int i;

  stack_bottom = stack_pointer();
  start_map(argc, argv);
  start_heap();
  draw("at the start");
  build();
  draw("a list of 6, a ring of 3, 6 lost pairs");
  collect_and_draw("collected: the lost ones", 9, 6);
  assert(sum(list) == 15);
  list = (int*)*(list + 1);
  list = (int*)*(list + 1);
  collect_and_draw("collected: two heads of the list", 7, 2);
  assert(sum(list) == 6);
  ring = 0;
  collect_and_draw("collected: the ring, though it holds itself", 4, 3);
  // Much more than there is room for, of which little is kept.
  i = 0;
  while (i < 500) {
    cons(i, 0);
    i = i + 1;
  }
  draw("500 pairs more, nobody's");
  assert(collections > 5);
  assert(sum(list) == 6);
  list = 0;
  scrub(20);
  collect();
  draw("collected: everything");
  assert(kept == 0);
  end_map();
  return 0;
}
