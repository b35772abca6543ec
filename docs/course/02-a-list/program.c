// A list of four, built from its end, and walked.
int* cons(int value, int* next) {
  int* node;

  node = malloc(8);
  *node = value;
  *(node + 1) = (int)next;
  return node;
}

int main() {
  int* list;

  list = cons(2, cons(3, cons(5, cons(7, 0))));
  while (list != 0) {
    print_number(*list);
    print(" at ");
    print_number((int)list);
    print(", next at ");
    print_number(*(list + 1));
    print("\n");
    list = (int*)*(list + 1);
  }
  return 0;
}
