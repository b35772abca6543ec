// status 5
// A list: an int may hold a pointer, if the program says so.
int* list = 0;

void push(int value) {
  int* node;

  node = malloc(8);
  *node = value;
  *(node + 1) = (int)list;
  list = node;
}

int main() {
  int n;

  push(2);
  push(3);
  n = 0;
  while (list != 0) {
    n = n + *list;
    list = (int*)*(list + 1);
  }
  return n;
}
