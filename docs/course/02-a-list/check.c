// The values 0 to 6 in many orders, two of each; the list must be sorted, whole, and end.
int* nodes;
int* place;

void show(int* list) {
  int n;

  print("found ");
  if (list == 0) print("nothing");
  n = 0;
  while ((list != 0) * (n < 20)) {
    print_number(*list);
    print(" ");
    list = (int*)*(list + 1);
    n = n + 1;
  }
  print("\n");
  exit(1);
}

void try(int step) {
  int* list;
  int* node;
  int i;

  list = 0;
  i = 0;
  while (i < 14) {
    node = malloc(12);
    *node = i * step % 7;
    *(node + 1) = 12345;  // what was there before
    *(node + 2) = i;
    list = insert(list, node);
    i = i + 1;
  }
  node = list;
  i = 0;
  while (i < 14) {
    if (node == 0) {
      print("expected 14 nodes, ");
      show(list);
    }
    if (*node != i / 2) {
      print("expected 0 0 1 1 2 2 …, ");
      show(list);
    }
    if (i % 2 == 1)
      if (*(place) > *(node + 2)) {
        print("expected equal values in the order in which they came\n");
        exit(1);
      }
    *place = *(node + 2);
    node = (int*)*(node + 1);
    i = i + 1;
  }
  if (node != 0) {
    print("expected the list's end behind 14 nodes, ");
    show(list);
  }
}

int main() {
  int step;

  place = malloc(4);
  step = 1;
  while (step < 7) {
    try(step);
    step = step + 1;
  }
  return 100;  // seen to its end; 0 may be an exit() of what is checked
}
