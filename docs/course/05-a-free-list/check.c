int* heap;
int heap_size = 200;

void say(int* what) {
  print(what);
  print("\n");
  exit(1);
}

// The list must be sorted, within the heap, without neighbours that touch; returns how many words are free.
int walk() {
  int* block;
  int* next;
  int n;

  n = 0;
  block = free_first;
  while (block != 0) {
    if (block < heap) say("expected a free list within the heap");
    if (block + *block > heap + heap_size) say("expected a free list within the heap");
    n = n + *block;
    next = (int*)*(block + 1);
    if (next != 0) {
      if (next <= block) say("expected a list sorted by address, which ends");
      if (block + *block > next) say("expected free blocks that do not overlap");
      if (block + *block == next) say("expected neighbours to be joined, found two that touch");
    }
    block = next;
  }
  return n;
}

void expect_free(int n) {
  int found;

  found = walk();
  if (found == n) return;
  print("expected ");
  print_number(n);
  print(" free words, found ");
  print_number(found);
  print("\n");
  exit(1);
}

int main() {
  int* a;
  int* b;
  int* c;
  int* d;
  int i;
  int seed;
  int* held;
  int* sizes;
  int used;

  heap = malloc(heap_size * 4);
  start(heap, heap_size);
  a = allocate(9);
  b = allocate(9);
  c = allocate(9);
  d = allocate(9);
  expect_free(160);
  release(b);
  expect_free(170);
  release(d);
  expect_free(180);
  release(a);
  expect_free(190);
  release(c);
  expect_free(200);
  if (free_first != heap) say("expected one free block in the end");
  // Many, in any order.
  held = malloc(80);
  sizes = malloc(80);
  i = 0;
  while (i < 20) {
    *(held + i) = 0;
    i = i + 1;
  }
  used = 0;
  seed = 1;
  while (seed < 2000) {
    i = seed * 7919 % 10007 % 20;
    if (*(held + i) == 0) {
      a = allocate(seed % 13 + 1);
      if (a != 0) {
        *(held + i) = (int)a;
        *(sizes + i) = *(a - 1);
        used = used + *(a - 1);
      }
    } else {
      a = (int*)*(held + i);
      if (*(a - 1) != *(sizes + i)) say("expected the sizes of blocks in use to stay");
      used = used - *(a - 1);
      *(held + i) = 0;
      release(a);
    }
    expect_free(heap_size - used);
    seed = seed + 1;
  }
  return 100;  // seen to its end; 0 may be an exit() of what is checked
}
