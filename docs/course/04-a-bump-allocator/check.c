int* before;

void say(int* what) {
  print(what);
  print("\n");
  exit(1);
}

void try(int words, int multiple) {
  int* block;

  block = allocate(words, multiple);
  if (block == 0) say("expected a block, found 0 while there is room");
  if ((int)block % (multiple * 4) != 0) say("expected an address that is a multiple of what was asked for");
  if (block < before) say("expected blocks that do not overlap");
  if (block - before >= multiple) say("expected less to be lost between two blocks");
  before = block + words;
}

int main() {
  int* space;

  space = malloc(1024);
  while ((int)space % 64 != 4) space = space + 1;  // one word behind a multiple of 16
  start(space, 64);
  before = space;
  try(3, 1);
  try(1, 4);
  try(5, 2);
  try(8, 8);
  try(2, 1);
  try(4, 16);
  if (allocate(60, 1) != 0) say("expected 0, found a block beyond the end");
  if (allocate(2147483647, 1) != 0) say("expected 0, found a block of 2147483647 words");
  try(3, 1);  // a refusal changes nothing
  while (before < space + 64) try(1, 1);
  if (allocate(1, 1) != 0) say("expected 0, found a block beyond the end");
  if (allocate(1, 16) != 0) say("expected 0, found a block beyond the end");
  return 100;  // seen to its end; 0 may be an exit() of what is checked
}
