// Each call has a frame of its own: the stack's end moves down, and up again.
int down(int n) {
  print_number(n);
  print(": the stack ends at ");
  print_number((int)stack_pointer());
  print("\n");
  if (n > 0) return down(n - 1) + 1;
  return 0;
}

int main() { return down(3) - 3; }
