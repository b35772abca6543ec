int* node(int* left, int* right) {
  int* n;

  n = malloc(12);
  *n = 99;
  *(n + 1) = (int)left;
  *(n + 2) = (int)right;
  return n;
}

void try(int* tree, int wanted) {
  int found;

  found = depth(tree);
  if (found == wanted) return;
  print("expected a depth of ");
  print_number(wanted);
  print(", found ");
  print_number(found);
  print("\n");
  exit(1);
}

int main() {
  int* tree;
  int i;

  try(0, 0);
  try(node(0, 0), 1);
  try(node(node(0, 0), 0), 2);
  try(node(0, node(0, 0)), 2);
  try(node(node(0, node(0, 0)), node(0, 0)), 3);
  try(node(node(0, 0), node(node(0, node(0, 0)), 0)), 4);
  tree = 0;
  i = 0;
  while (i < 100) {
    tree = node(tree, node(0, 0));
    i = i + 1;
  }
  try(tree, 101);
  return 100;  // seen to its end; 0 may be an exit() of what is checked
}
